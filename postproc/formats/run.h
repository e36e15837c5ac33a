/* Takes a session through an output format. */
#ifndef LITIFUT_POSTPROC_FORMATS_RUN_H
#define LITIFUT_POSTPROC_FORMATS_RUN_H

#include "postproc/formats/format.h"
#include "postproc/timeline/timeline.h"

void post_run(struct post_session *session, const struct post_format *format,
	      struct post_output *output, const struct post_timeline_options *options,
	      struct post_totals *totals);

#endif
