/* What changed between two runs. */
#ifndef LITIFUT_POSTPROC_FORMATS_DIFF_H
#define LITIFUT_POSTPROC_FORMATS_DIFF_H

#include <stdio.h>

#include "postproc/formats/format.h"
#include "postproc/measure/runs.h"

struct post_diff_options {
	double least; /* relative change that is worth a line, 0.1: 10 %; below 0: the usual one */
	uint64_t top; /* lines, 0: all */
	bool color;
};

/* Writes the edges that are new, gone or called more or less often, largest
 * difference first. Functions are matched by name and module, not by address,
 * so the two sides may be of different builds. Of a side with several runs the calls of a run are
 * compared, as a mean. Returns how many edges differ. */
size_t post_diff_write(FILE *file, const struct post_session *old, uint32_t old_runs,
		       const struct post_session *now, uint32_t now_runs,
		       const struct post_diff_options *options);

/* What each side of a comparison goes through: its state is a struct post_runs, which the caller
 * releases and frees. Nothing is written. */
extern const struct post_format post_format_diff_run;

/* Writes the functions whose self times differ, largest difference first, each with the spread
 * of its runs. */
void post_diff_times_write(FILE *file, const struct post_session *old,
			   const struct post_runs *old_runs, const struct post_session *now,
			   const struct post_runs *now_runs,
			   const struct post_diff_options *options);

#endif
