/* One run of an output format. */
#include "postproc/formats/run.h"

static bool is_broken(void *context) /* such as: the pager was left */
{
	const struct post_output *output = context;

	return ferror(output->file);
}

static bool run_is_broken(void *context)
{
	const struct post_run *run = context;

	return is_broken(run->output);
}

static void push(void *context, const struct post_timeline_event *event)
{
	struct post_run *run = context;

	if (run->also)
		run->also->push(run->also->context, event);
	if (run->measuring)
		post_measures_take(&run->measures, event);
	if (run->format->event)
		run->format->event(run->output, event);
	if (run->measuring && run->format->timed)
		run->format->timed(run->output, event);
}

void post_run_read(struct post_run *run, struct post_session *session,
		   const struct post_timeline_options *options, struct post_totals *totals)
{
	const struct post_format *format = run->format;
	struct post_output *output = run->output;
	struct post_timeline_sink direct = {
		.push = format->event,
		.full = is_broken,
		.context = output,
		.nested = format->nested,
	};
	struct post_timeline_sink measuring = {
		.push = push,
		.full = run_is_broken,
		.context = run,
		.nested = true,
	};
	const struct post_timeline_sink *sink = format->event ? &direct : NULL;

	run->measuring = format->measured && post_measures_possible(session);
	if (run->measuring || run->also || post_filter_is_set(&options->filter))
		sink = &measuring;
	if (format->start)
		format->start(output);
	post_measures_start(&run->measures, session);
	if (run->measures.tabled && format->event && !format->tabled)
		post_problem_at(
			session->problems, NULL, LITIFUT_NO_ADDRESS,
			"a trace has sums only (LITIFUT_MODE=table, counts), without an "
			"order of calls: %s can't show it; see report, edges, dot, callgrind, html",
			format->name);
	post_timeline_read(session, sink, options);
	post_measures_finish(&run->measures);
	post_timeline_total(session, totals);
	totals->cut = sink && is_broken(output);
	output->totals = totals;
}

void post_run_finish(struct post_run *run)
{
	struct post_output *output = run->output;

	if (run->measuring)
		output->measures = &run->measures;
	if (run->format->finish)
		run->format->finish(output);
	output->measures = NULL;
	output->totals = NULL;
	post_measures_release(&run->measures);
}

void post_run(struct post_session *session, const struct post_format *format,
	      struct post_output *output, const struct post_timeline_options *options,
	      struct post_totals *totals)
{
	struct post_run run = {.output = output, .format = format};

	post_run_read(&run, session, options, totals);
	post_session_conclude(session);
	post_run_finish(&run);
}
