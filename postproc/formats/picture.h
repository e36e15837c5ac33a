/* What a drawn call graph shows: the edges that cost most, and the costliest way to each. */
#ifndef LITIFUT_POSTPROC_FORMATS_PICTURE_H
#define LITIFUT_POSTPROC_FORMATS_PICTURE_H

#include "postproc/formats/format.h"
#include "postproc/measure/edges.h"
#include "postproc/measure/measure.h"

struct post_picture {
	const struct post_output *output;
	struct post_edges edges;
	struct post_tallies tallies;
	struct post_metrics *metrics; /* by number of the edge; NULL: there are no times */
	uint64_t *cost;               /* likewise: time from call to return, else calls */
	uint32_t *order;              /* edges, most cost first */
	bool *shown;                  /* by edge */
	bool *used, *led_to;          /* by function: it is shown, and so is an edge to it */
	uint64_t whole;               /* what shares are of */
	double hottest;               /* most self time, or calls, of a function; at least 1 */
	double heaviest;              /* most cost of an edge; at least 1 */
	uint64_t left_out;            /* calls of the edges that are not shown */
	size_t hidden;                /* these edges */
};

/* Chooses by output->options: at most `top` edges (0: `usual_top`), of at least `min_share` of the
 * whole. Release with post_picture_release(). */
void post_picture_choose(struct post_picture *picture, const struct post_output *output,
			 uint64_t usual_top);

/* Hands out the functions and then the edges that are shown. */
void post_picture_write(const struct post_picture *picture,
			void (*write_node)(const struct post_picture *picture,
					   const struct post_tally *tally),
			void (*write_edge)(const struct post_picture *picture, uint32_t edge));

void post_picture_release(struct post_picture *picture);

/* 1234567 -> 1.23M: three digits say enough in a picture. */
void post_picture_write_count(FILE *file, uint64_t count);

#endif
