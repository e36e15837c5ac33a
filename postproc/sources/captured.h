/* The table of a firmware's call sites, or its events, as a capture or a dump of the memory has
 * them. */
#ifndef LITIFUT_POSTPROC_SOURCES_CAPTURED_H
#define LITIFUT_POSTPROC_SOURCES_CAPTURED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <litifut/frames_format.h>

#include "postproc/sources/path_words.h"
#include "postproc/sources/span_events.h"

/* More words than a microcontroller has memory for. */
#define POST_CAPTURE_WORDS_MAX 65536

/* All owned. Words that never arrived are 0. */
struct post_capture {
	uint8_t hash[8]; /* of struct litifut_identity */
	uint32_t *words;
	size_t word_count;
	uint32_t *overflow;
	size_t overflow_count;
	/* Their upper halves, of those of the table first; NULL: none of them has one. */
	uint32_t *upper;
	/* Of the same numbers: in which piece of the capture each came, see capture_numbers.h; 0:
	 * it has not come. NULL: all are of one moment. */
	uint32_t *from;
	uint32_t *bins; /* of the histogram of addresses */
	size_t bin_count;
	bool dumped;    /* read out of the memory, of a CPU that was stopped anywhere */
	uint32_t flags; /* enum litifut_frames_flags */
	/* Only with LITIFUT_FRAMES_TIMES. */
	/* Of each entry of the pool two: a record's number and ticks, see LITIFUT_FRAME_OPEN. */
	uint32_t *open;
	size_t open_count; /* numbers */
	bool open_missing; /* some of them have not come */
	uint32_t hertz;    /* of the clock, 0: unknown */
	struct litifut_calibration calibration;
	bool cost_missing; /* what the tracer adds to a call has not come */
	uint32_t untimed;  /* calls */
	/* The tasks of the kernel, if it has a variable that says which one runs. */
	struct litifut_task tasks[LITIFUT_TASKS_MOST];
	size_t task_count;
	struct post_span_events events; /* only with LITIFUT_FRAMES_SPANS */
	struct post_path_words paths;   /* only with LITIFUT_FRAMES_PATHS */
};

#endif
