/* Takes a session through an output format. */
#ifndef LITIFUT_POSTPROC_FORMATS_RUN_H
#define LITIFUT_POSTPROC_FORMATS_RUN_H

#include "postproc/formats/format.h"
#include "postproc/measure/measure.h"
#include "postproc/timeline/timeline.h"

/* Has the session nothing that the format shows, as it recorded code and no calls? Then that is
 * reported, with the formats that show it. */
bool post_run_is_in_vain(const struct post_session *session, const struct post_format *format);

/* A run in two steps, for a caller that needs the events as well before the output is written. */
struct post_run {
	struct post_output *output;
	const struct post_format *format;
	const struct post_timeline_sink
		*also;                 /* gets all events first; NULL: only the output does */
	struct post_measures measures; /* this and the next one: to begin with 0 */
	bool measuring;
};

/* All events go into the format; `totals` must live until the end. */
void post_run_read(struct post_run *run, struct post_session *session,
		   const struct post_timeline_options *options, struct post_totals *totals);

/* After post_session_conclude(): writes what the format writes at its end. */
void post_run_finish(struct post_run *run);

/* Both steps. */
void post_run(struct post_session *session, const struct post_format *format,
	      struct post_output *output, const struct post_timeline_options *options,
	      struct post_totals *totals);

#endif
