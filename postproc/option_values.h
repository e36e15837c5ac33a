/* Values of options, from text. Each function gives false for a text that is not one; what it
 * points to may then be changed. */
#ifndef LITIFUT_POSTPROC_OPTION_VALUES_H
#define LITIFUT_POSTPROC_OPTION_VALUES_H

#include "postproc/formats/format.h"
#include "postproc/timeline/window.h"

bool post_value_number(const char *text, uint64_t *value);

/* Adds the parts of "1,2,3" to a list. */
bool post_value_numbers(uint32_t **numbers, size_t *count, const char *text);

/* Bytes: a number with an optional K, M, G or T. */
bool post_value_size(const char *text, uint64_t *bytes);

/* A number of things, at least one. */
bool post_value_count(const char *text, uint32_t *count);

/* "0.5" or "0.5%": of 100. */
bool post_value_share(const char *text, double *share);

/* "1.5s", "20ms", "10us", "100ns": nanoseconds. */
bool post_value_duration(const char *text, uint64_t *time);

/* One end of the window: a plain number counts events, a unit makes it a time, all else is a call
 * of a function, see struct post_trigger, whose text the caller frees. */
bool post_value_edge(const char *text, struct post_window *window, uint64_t *event, uint64_t *time,
		     struct post_trigger *trigger);

/* "#3", "1.5s", or a glob of functions. */
void post_value_phase(const char *text, struct post_phase *phase);

/* enum post_rows */
bool post_value_rows(const char *text, unsigned *rows);

/* "auto" leaves `color` as it is. */
bool post_value_color(const char *when, bool *color);

#endif
