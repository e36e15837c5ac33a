/* report: a flat table of functions. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "postproc/measure/edges.h"
#include "postproc/formats/format.h"
#include "postproc/formats/losses.h"
#include "postproc/formats/profile.h"
#include "postproc/formats/times.h"
#include "postproc/measure/measure.h"
#include "postproc/timeline/timeline.h"

static int (*column_order(const char *name))(const void *, const void *);

static int by_made(const void *left, const void *right)
{
	const struct post_tally *a = left, *b = right;
	return a->made != b->made ? (a->made > b->made ? -1 : 1) : 0;
}

static int by_callers(const void *left, const void *right)
{
	const struct post_tally *a = left, *b = right;
	return a->callers != b->callers ? (a->callers > b->callers ? -1 : 1) : 0;
}

static int by_callees(const void *left, const void *right)
{
	const struct post_tally *a = left, *b = right;
	return a->callees != b->callees ? (a->callees > b->callees ? -1 : 1) : 0;
}

static int (*column_order(const char *name))(const void *, const void *)
{
	return !strcmp(name, "made")      ? by_made
	       : !strcmp(name, "callers") ? by_callers
	       : !strcmp(name, "callees") ? by_callees
					  : NULL;
}

static int by_name(const void *left, const void *right, void *context)
{
	const struct post_tally *a = left, *b = right;

	return post_function_compare(context, a->function, b->function);
}

/* The tallies come by calls; sorting keeps that order among equals only if it
 * is stable, so small tables or not, insertion by merge is what is used. */
static void stable_sort(struct post_tally *items, size_t count,
			int (*compare)(const void *, const void *))
{
	if (count < 2)
		return;
	size_t half = count / 2;
	stable_sort(items, half, compare);
	stable_sort(items + half, count - half, compare);
	struct post_tally *left = post_reallocate(NULL, half, sizeof(*left));
	memcpy(left, items, half * sizeof(*left));
	size_t a = 0, b = half, to = 0;
	while (a < half) {
		if (b < count && compare(&items[b], &left[a]) < 0)
			items[to++] = items[b++];
		else
			items[to++] = left[a++];
	}
	free(left);
}

static void print_table(struct post_output *output, const struct post_tallies *tallies,
			uint64_t total, uint32_t module)
{
	const struct post_session *session = output->session;
	const char *bold = output->options.color ? "\033[1m" : "";
	const char *plain = output->options.color ? "\033[0m" : "";
	uint64_t rows = 0;

	fprintf(output->file, "%s%12s %6s %12s %8s %8s  %s%s\n", bold, "calls", "share", "made",
		"callers", "callees", "function [module]", plain);
	for (size_t i = 0; i < tallies->count; i++) {
		const struct post_tally *tally = &tallies->items[i];
		const struct post_function *function = &session->functions[tally->function];
		if (module != POST_NONE && function->module != module)
			continue;
		if (output->options.top && rows++ == output->options.top)
			break;
		fprintf(output->file,
			"%12" PRIu64 " %5.1f%% %12" PRIu64 " %8" PRIu32 " %8" PRIu32 "  %s [%s]\n",
			tally->calls, total ? 100.0 * (double)tally->calls / (double)total : 0.0,
			tally->made, tally->callers, tally->callees, function->name,
			session->modules[function->module].name);
	}
}

/* A column that only the table of counts has. */
static bool is_count_column(const char *name)
{
	return !strcmp(name, "made") || !strcmp(name, "callers") || !strcmp(name, "callees");
}

static bool has_calls(const struct post_output *output)
{
	return output->totals->events > output->totals->own;
}

static bool is_damaged(const struct post_session *session)
{
	bool damaged = false;

	for (size_t i = 0; i < session->process_count; i++)
		damaged |= session->processes[i]->trace->damaged;
	return damaged;
}

static const char *why_no_times(const struct post_output *output)
{
	if (has_calls(output))
		return output->totals->clockless
			       ? "No times were recorded: no clock can be read cheaply where the "
				 "program ran. Run it with LITIFUT_CLOCK=mono for them."
			       : "No times were recorded: link with LITIFUT_MODE=spans or table "
				 "for them.";
	return "No call was recorded.";
}

static void finish(struct post_output *output)
{
	const struct post_session *session = output->session;
	const char *sort = output->options.sort ? output->options.sort : "calls";
	struct post_edges edges;
	struct post_tallies tallies;

	if (post_profile_is_all(session)) {
		post_profile_report(output);
		return;
	}
	/* The filters left nothing, as a message says: not even the heading of a table. */
	if (has_calls(output) && !output->totals->shown)
		return;
	post_losses_write(output->file, session, "# ", "\n");
	if (!has_calls(output) && is_damaged(session)) {
		fputs("# No call is there to read: a trace is cut or damaged.\n", output->file);
		return;
	}
	if (output->measures && post_measures_timing(output->measures) != POST_TIMING_NONE &&
	    !is_count_column(sort)) {
		post_times_write(output);
		return;
	}
	post_edges_collect(session, &edges);
	post_tallies_collect(session, &edges, &tallies);
	if (!strcmp(sort, "name"))
		qsort_r(tallies.items, tallies.count, sizeof(*tallies.items), by_name,
			(void *)session);
	else if (column_order(sort))
		stable_sort(tallies.items, tallies.count, column_order(sort));
	if (!output->options.by_module)
		print_table(output, &tallies, edges.total, POST_NONE);
	bool first = true;
	for (uint32_t module = 0; output->options.by_module && module < session->module_count;
	     module++) {
		bool used = false;
		for (size_t i = 0; i < tallies.count && !used; i++)
			used = session->functions[tallies.items[i].function].module == module;
		if (!used)
			continue;
		fprintf(output->file, "%s%s\n", first ? "" : "\n", session->modules[module].name);
		print_table(output, &tallies, edges.total, module);
		first = false;
	}
	if (!output->measures || post_measures_timing(output->measures) == POST_TIMING_NONE)
		fprintf(output->file, "# %s\n", why_no_times(output));
	post_tallies_release(&tallies);
	post_edges_release(&edges);
}

const struct post_format post_format_report = {
	.name = "report",
	.summary = "table of functions: times, or calls, callers, callees; instructions",
	.uses = POST_USES_TOP | POST_USES_SORT | POST_USES_BY_MODULE | POST_USES_ROWS |
		POST_USES_PHASE,
	.measured = true,
	.profiled = true,
	.finish = finish,
};
