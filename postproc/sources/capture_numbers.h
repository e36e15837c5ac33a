/* The numbers of a table, of which a firmware sends all again and again, put together from the
 * frames of its sendings. */
#ifndef LITIFUT_POSTPROC_SOURCES_CAPTURE_NUMBERS_H
#define LITIFUT_POSTPROC_SOURCES_CAPTURE_NUMBERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "postproc/sources/captured.h"

/* One array that arrives in pieces. */
struct post_capture_part {
	uint32_t *words;
	uint32_t *from; /* of which piece each is, counted from 1; 0: it has not come */
	size_t count;
	size_t missing; /* have not come */
	size_t stale;   /* are not of the last sending */
};

/* The last value of each that has come. All owned. */
struct post_capture_numbers {
	struct post_capture_part table, overflow, profile;
	struct post_capture_part open;
	uint32_t *upper;  /* see struct post_capture */
	bool timed;       /* records have times */
	bool has_times;   /* the frame with the next three has come, */
	bool fresh_times; /* and in the last sending */
	uint32_t hertz, untimed;
	struct litifut_calibration calibration;
	struct litifut_task tasks[LITIFUT_TASKS_MOST];
	size_t task_count;              /* announced */
	size_t tasks_seen, tasks_fresh; /* a bit for each that has come */
	unsigned sendings;              /* that have begun */
	/* Frames between which none is missing, of one sending. */
	uint32_t piece, first_piece; /* the last one, and the first one of the last sending */
	bool ended;                  /* what comes now is of another one */
};

/* Forgets all. A sending with so many words and bins begins. */
void post_capture_numbers_begin(struct post_capture_numbers *numbers, size_t words, size_t overflow,
				size_t bins, bool timed);

/* The next sending of the same begins. */
void post_capture_numbers_next(struct post_capture_numbers *numbers);

/* Frames of the sending are missing here. */
void post_capture_numbers_gap(struct post_capture_numbers *numbers);

/* Does the frame, with numbers, of this type, begin another sending whose header is not here? */
bool post_capture_numbers_anew(const struct post_capture_numbers *numbers, uint8_t type,
			       const uint8_t *payload, size_t size);

/* Takes a frame. False: its contents make no sense. */
bool post_capture_numbers_take(struct post_capture_numbers *numbers, uint8_t type,
			       const uint8_t *payload, size_t size);

/* Of all that there are, how many have never come. */
size_t post_capture_numbers_missing(const struct post_capture_numbers *numbers);
size_t post_capture_numbers_count(const struct post_capture_numbers *numbers);

/* Are all numbers those of the last sending? */
bool post_capture_numbers_whole(const struct post_capture_numbers *numbers);

/* Fills the members that are numbers: copies, or the arrays themselves. */
void post_capture_numbers_copy(const struct post_capture_numbers *numbers,
			       struct post_capture *capture);
void post_capture_numbers_hand_over(struct post_capture_numbers *numbers,
				    struct post_capture *capture);

void post_capture_numbers_release(struct post_capture_numbers *numbers);

#endif
