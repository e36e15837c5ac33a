/* One run of an output format. */
#include "postproc/formats/run.h"

static bool is_broken(void *context) /* such as: the pager was left */
{
	const struct post_output *output = context;

	return ferror(output->file);
}

void post_run(struct post_session *session, const struct post_format *format,
	      struct post_output *output, const struct post_timeline_options *options,
	      struct post_totals *totals)
{
	struct post_timeline_sink sink = {
		.push = format->event,
		.full = is_broken,
		.context = output,
		.nested = format->nested,
	};

	if (format->start)
		format->start(output);
	post_timeline_read(session, format->event ? &sink : NULL, options);
	if (format->finish)
		format->finish(output);
	post_timeline_total(session, totals);
	post_session_conclude(session);
}
