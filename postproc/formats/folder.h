/* Outputs that are a folder of files: texts, and one file for each lane that grows while the
 * trace is read, of which any number can be open. */
#ifndef LITIFUT_POSTPROC_FORMATS_FOLDER_H
#define LITIFUT_POSTPROC_FORMATS_FOLDER_H

#include "postproc/formats/format.h"

#define POST_PIECE_BYTES 65536u

/* Opens a file of the folder for writing; NULL: a problem was reported. */
FILE *post_folder_open(struct post_output *output, const char *name);

struct post_piece {
	uint8_t *bytes; /* POST_PIECE_BYTES; NULL: the lane has had no event */
	uint32_t used;
	uint64_t start; /* for the format */
};

/* What is not written yet, by lane. All zero to start with. */
struct post_pieces {
	struct post_piece *items;
	size_t count;
	bool failed; /* a problem was reported, and nothing more is written */
};

/* The piece of a lane; its bytes are there. */
struct post_piece *post_pieces_of(struct post_pieces *pieces, const struct post_output *output,
				  uint32_t lane);

/* Appends `head` and then the piece to a file of the folder, and empties the piece. */
void post_pieces_write(struct post_pieces *pieces, struct post_output *output,
		       struct post_piece *piece, const char *name, const void *head,
		       size_t head_bytes);

/* What the formats note of a lane. */
struct post_folder_lane {
	uint64_t first, last; /* times of its events; not set unless `some` */
	uint64_t lost;
	bool some; /* it has had an event */
};

/* The state of such a format, in output->state. */
struct post_folder {
	struct post_pieces pieces;
	struct post_folder_lane *lanes;
	size_t lane_count;
	bool *shown; /* by function */
	size_t function_count;
};

/* Sets output->state; post_folder_finish() frees it. */
void post_folder_start(struct post_output *output);

/* The lane of an event, valid until the next call. */
struct post_folder_lane *post_folder_lane(struct post_output *output, uint32_t lane);

void post_folder_show(struct post_output *output, uint32_t function);

/* Nanoseconds, or microseconds counted by events where there is no clock. */
uint64_t post_folder_time(const struct post_output *output,
			  const struct post_timeline_event *event);

/* Calls `write` for each lane with a piece that is not written yet. */
void post_folder_flush(struct post_output *output,
		       void (*write)(struct post_output *output, uint32_t lane));

void post_folder_finish(struct post_output *output);

/* Little-endian numbers. */
static inline void post_put_number(uint8_t *bytes, uint64_t value, unsigned size)
{
	for (unsigned i = 0; i < size; i++)
		bytes[i] = (uint8_t)(value >> 8 * i);
}

#endif
