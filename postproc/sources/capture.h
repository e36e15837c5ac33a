/* What a firmware has sent: the table of its call sites, put together from the frames of a
 * capture, or taken from a dump of its memory. <litifut/frames_format.h> has the layout. */
#ifndef LITIFUT_POSTPROC_SOURCES_CAPTURE_H
#define LITIFUT_POSTPROC_SOURCES_CAPTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/error.h"
#include "postproc/problems.h"
#include "postproc/sources/captured.h"

/* Does a frame that begins a round stand in these bytes? */
bool post_capture_is(const uint8_t *bytes, size_t size);

/* Does any other frame of a round? */
bool post_capture_is_rest(const uint8_t *bytes, size_t size);

/* Reads the frames. What is missing or damaged is reported to `problems`, one line each, and
 * what is good is in `capture`. An error: there is nothing to show. Where no frame that begins a
 * round is there, `header` is what it has up to the number of the round (LITIFUT_HEADER_BYTES);
 * NULL: the frames have one. */
enum litifut_status post_capture_read(const char *path, const uint8_t *bytes, size_t size,
				      const uint8_t *header, struct post_capture *capture,
				      struct post_problems *problems, struct litifut_error *error);

void post_capture_release(struct post_capture *capture);

#endif
