/* The table of times that report shows where there are some. */
#ifndef LITIFUT_POSTPROC_FORMATS_TIMES_H
#define LITIFUT_POSTPROC_FORMATS_TIMES_H

#include "postproc/formats/format.h"

/* The columns that --sort takes here, NULL-terminated. */
extern const char *const post_times_columns[];

/* One row for each function, edge or thread, see enum post_rows. */
void post_times_write(struct post_output *output);

#endif
