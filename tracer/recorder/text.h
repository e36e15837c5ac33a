/* The few string functions that the recorder needs. */
#ifndef LITIFUT_TRACER_TEXT_H
#define LITIFUT_TRACER_TEXT_H

#include <stdbool.h>
#include <stdint.h>

/* A text that grows in a buffer. It ends with a NUL after each addition; what does not fit is
 * left out. */
struct litifut_text {
	char *at;  /* the NUL */
	char *end; /* the last byte of the buffer */
	bool cut;  /* something was left out */
};

#pragma GCC visibility push(hidden)

/* The bytes before the NUL. */
uint32_t litifut_length(const char *text);
void litifut_copy(void *to, const void *from, uint32_t size);
bool litifut_equal(const char *a, const char *b);
/* Begins a text with `start`; `size` is that of `buffer`. */
void litifut_text_start(struct litifut_text *text, char *buffer, uint32_t size, const char *start);
void litifut_text_add(struct litifut_text *text, const char *more);

/* What the digits of a number need, and a NUL. */
#define LITIFUT_NUMBER_BYTES 11

void litifut_text_add_number(struct litifut_text *text, uint32_t number);
/* The number that `text` begins with; UINT32_MAX when it is that or more. */
uint32_t litifut_number(const char *text);

#pragma GCC visibility pop

#endif
