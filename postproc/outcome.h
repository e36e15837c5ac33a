/* What a run of litifut-post has come to, and the lines about it on standard error. */
#ifndef LITIFUT_POSTPROC_OUTCOME_H
#define LITIFUT_POSTPROC_OUTCOME_H

#include <stdbool.h>
#include <stddef.h>

#include "postproc/formats/format.h"
#include "postproc/formats/run.h"

#define POST_MOST_NEEDLESS 8

/* What is printed on standard error once the output is done, and the pager left. */
struct post_outcome {
	struct post_totals totals[2];
	double seconds[2]; /* below 0: not known */
	size_t runs;       /* 2: a comparison */
	size_t differing;
	size_t before; /* lines about the inputs, which stand above the output */
	char needless[POST_MOST_NEEDLESS][256]; /* lines about files that served nothing */
	char mixed[512];                        /* a line about a folder, */
	char left[512];                         /* one about what was not recorded, */
	char builds[512];                       /* and one about runs of several builds */
	bool nothing;                           /* no call was recorded */
	size_t needless_count;                  /* of all of them */
};

/* Prints them once the run, or both, have been shown. `note` is a line about the format's output,
 * or empty. */
void post_outcome_print(const struct post_outcome *outcome, const char *note,
			const struct post_format *format);

#endif
