/* callers-of and callees-of: who calls a function and whom it calls, with the
 * places in the code. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "postproc/measure/edges.h"
#include "postproc/formats/format.h"
#include "postproc/formats/losses.h"
#include "postproc/measure/measure.h"
#include "postproc/model/lines.h"
#include "postproc/formats/near.h"
#include "postproc/formats/profile.h"

static bool asked_for(const struct post_output *output, uint32_t function)
{
	const char *const globs[] = {output->options.function, NULL};

	return post_function_matches(output->session, globs, function);
}

#define INLINED_MOST 32

/* The line of a call, and where the functions were inlined that it stands in, from the inside out.
 */
static void write_line(struct post_output *output, const struct post_call *call)
{
	struct post_line_call inlined[INLINED_MOST];
	char line[512];
	size_t count;

	if (!post_lines_text(output->session, call->site_module, call->site_address, line,
			     sizeof(line)))
		return;
	fprintf(output->file, " %s", line);
	count = post_lines_inlined(output->session, call->site_module, call->site_address, inlined,
				   INLINED_MOST);
	while (count--)
		fprintf(output->file, ", inlined at %s:%u", inlined[count].file,
			inlined[count].line);
}

static bool is_timed(const struct post_output *output)
{
	return output->measures && post_measures_timing(output->measures) == POST_TIMING_MEASURED;
}

static void write_times(struct post_output *output, const struct post_metrics *metrics)
{
	static const enum post_metric columns[] = {POST_METRIC_TOTAL, POST_METRIC_SELF};
	char text[64];

	for (size_t i = 0; i < sizeof(columns) / sizeof(*columns); i++)
		fprintf(output->file, " %12s",
			metrics->value[POST_METRIC_TIMED] &&
					(!i || post_metrics_self_known(metrics))
				? post_measures_text(output->measures, metrics->value[columns[i]],
						     text, sizeof(text))
				: "-");
}

/* What was measured of all calls along an edge. */
static void add_sites(const struct post_output *output, const struct post_edge *edge,
		      struct post_metrics *sum)
{
	const struct post_session *session = output->session;

	*sum = (struct post_metrics){0};
	for (size_t i = 0; i < session->call_count; i++) {
		const struct post_call *call = &session->calls[i];

		if (!call->hidden && call->caller == edge->caller && call->callee == edge->callee)
			post_metrics_add(sum, &output->measures->calls[i]);
	}
}

static void write_sites(struct post_output *output, const struct post_edge *edge)
{
	char partly[POST_PARTLY_BYTES] = "";
	const struct post_session *session = output->session;

	for (size_t i = 0; i < session->call_count; i++) {
		const struct post_call *call = &session->calls[i];

		if (call->hidden || !call->count || call->caller != edge->caller ||
		    call->callee != edge->callee)
			continue;
		fprintf(output->file, "%14" PRIu64 "   ", call->count);
		if (is_timed(output)) {
			const struct post_metrics *metrics = &output->measures->calls[i];

			write_times(output, metrics);
			post_metrics_partly_text(metrics, partly, sizeof(partly));
		}
		fprintf(output->file, " %s%s+0x%x%s", is_timed(output) ? " " : "",
			session->functions[call->caller].name, call->caller_offset, partly);
		if (session->options.lines)
			write_line(output, call);
		fprintf(output->file, "%s\n", call->tail ? " (tail call)" : "");
	}
}

static void write_neighbours(struct post_output *output, const struct post_edges *edges,
			     uint32_t function, bool callers)
{
	const struct post_session *session = output->session;
	uint64_t total = 0, rows = 0;

	for (size_t i = 0; i < edges->count; i++) {
		uint32_t own = callers ? edges->items[i].callee : edges->items[i].caller;
		total += own == function ? edges->items[i].count : 0;
	}
	fprintf(output->file, "%s [%s]: %" PRIu64 " call%s %s\n", session->functions[function].name,
		session->modules[session->functions[function].module].name, total,
		total == 1 ? "" : "s", callers ? "received" : "made");
	if (is_timed(output))
		fprintf(output->file, "%10s %6s %12s %12s  %s [module]\n", "calls", "share",
			"total", "self", callers ? "caller" : "callee");
	for (size_t i = 0; i < edges->count; i++) {
		const struct post_edge *edge = &edges->items[i];
		char partly[POST_PARTLY_BYTES] = "";
		uint32_t other = callers ? edge->caller : edge->callee;
		if ((callers ? edge->callee : edge->caller) != function)
			continue;
		if (output->options.top && rows++ == output->options.top)
			break;
		fprintf(output->file, "%10" PRIu64 " %5.1f%%", edge->count,
			100.0 * (double)edge->count / (double)total);
		if (is_timed(output)) {
			struct post_metrics metrics;

			add_sites(output, edge, &metrics);
			write_times(output, &metrics);
			post_metrics_partly_text(&metrics, partly, sizeof(partly));
		}
		fprintf(output->file, "  %s [%s]%s\n", session->functions[other].name,
			session->modules[session->functions[other].module].name, partly);
		write_sites(output, edge);
	}
}

static void write_head(const struct post_output *output)
{
	post_losses_write(output->file, output->session, "# ", "\n");
	if (is_timed(output))
		fputs("# Elapsed time of the calls whose return is known: (N timed), if that is "
		      "not so of all of them.\n",
		      output->file);
}

static void finish_either(struct post_output *output, bool callers)
{
	const struct post_session *session = output->session;
	struct post_edges edges;
	struct post_tallies tallies;
	bool some = false;

	if (post_profile_is_all(session)) {
		post_profile_neighbours(output, callers);
		return;
	}
	post_edges_collect(session, &edges);
	post_tallies_collect(session, &edges, &tallies);
	for (size_t i = 0; i < tallies.count; i++) {
		const struct post_tally *tally = &tallies.items[i];
		if (!asked_for(output, tally->function) || !(callers ? tally->calls : tally->made))
			continue;
		if (some)
			putc('\n', output->file);
		else
			write_head(output);
		write_neighbours(output, &edges, tally->function, callers);
		some = true;
	}
	if (!some)
		post_near_report(session, callers ? "of" : "by", output->options.function);
	post_tallies_release(&tallies);
	post_edges_release(&edges);
}

static void finish_callers(struct post_output *output)
{
	finish_either(output, true);
}

static void finish_callees(struct post_output *output)
{
	finish_either(output, false);
}

const struct post_format post_format_callers_of = {
	.name = "callers-of",
	.summary = "who calls a function (--function GLOB), from which sites",
	.asks_for_function = true,
	.uses = POST_USES_TOP | POST_USES_FUNCTION | POST_USES_LINES,
	.measured = true,
	.returns = true,
	.profiled = true,
	.finish = finish_callers,
};

const struct post_format post_format_callees_of = {
	.name = "callees-of",
	.summary = "whom a function calls (--function GLOB), from which sites",
	.asks_for_function = true,
	.uses = POST_USES_TOP | POST_USES_FUNCTION | POST_USES_LINES,
	.measured = true,
	.returns = true,
	.profiled = true,
	.finish = finish_callees,
};
