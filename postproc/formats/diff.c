/* Comparing two runs, edge by edge. */
#include "postproc/formats/diff.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "postproc/measure/edges.h"

struct row {
	const char *caller, *caller_module, *callee, *callee_module;
	uint64_t counts[2]; /* all calls of the old and of the new side */
	double old, now;    /* those of a run */
};

static int by_name(const void *left, const void *right)
{
	const struct row *a = left, *b = right;
	int order = strcmp(a->caller, b->caller);

	if (!order)
		order = strcmp(a->callee, b->callee);
	if (!order)
		order = strcmp(a->caller_module, b->caller_module);
	return order ? order : strcmp(a->callee_module, b->callee_module);
}

static double difference(const struct row *row)
{
	return fabs(row->now - row->old);
}

static int by_difference(const void *left, const void *right)
{
	const struct row *a = left, *b = right;

	if (difference(a) != difference(b))
		return difference(a) > difference(b) ? -1 : 1;
	return by_name(left, right);
}

static size_t add_rows(struct row *rows, size_t count, const struct post_session *session,
		       const struct post_edges *edges, bool old)
{
	for (size_t i = 0; i < edges->count; i++) {
		const struct post_edge *edge = &edges->items[i];
		const struct post_function *caller = &session->functions[edge->caller];
		const struct post_function *callee = &session->functions[edge->callee];
		rows[count++] = (struct row){
			.caller = caller->name,
			.caller_module = session->modules[caller->module].name,
			.callee = callee->name,
			.callee_module = session->modules[callee->module].name,
			.counts = {old ? edge->count : 0, old ? 0 : edge->count},
		};
	}
	return count;
}

static void write_row(FILE *file, const struct row *row, bool means, bool color)
{
	const char *word = !row->old ? "new" : !row->now ? "gone" : "changed";
	const char *paint = !color ? "" : !row->old ? "\033[32m" : !row->now ? "\033[31m" : "";
	char change[32] = "";

	if (row->old && row->now)
		snprintf(change, sizeof(change), "%+.1f%%",
			 100.0 * (row->now - row->old) / row->old);
	fprintf(file, "%s%-7s %12.*f %12.*f %9s  %s -> %s [%s]%s\n", paint, word, means, row->old,
		means, row->now, change, row->caller, row->callee, row->callee_module,
		*paint ? "\033[0m" : "");
}

size_t post_diff_write(FILE *file, const struct post_session *old, uint32_t old_runs,
		       const struct post_session *now, uint32_t now_runs,
		       const struct post_diff_options *options)
{
	const bool means = old_runs > 1 || now_runs > 1;
	struct post_edges old_edges, now_edges;
	size_t kept = 0, differing = 0;

	post_edges_collect(old, &old_edges);
	post_edges_collect(now, &now_edges);
	struct row *rows = post_allocate(old_edges.count + now_edges.count, sizeof(*rows));
	size_t count = add_rows(rows, 0, old, &old_edges, true);
	count = add_rows(rows, count, now, &now_edges, false);
	qsort(rows, count, sizeof(*rows), by_name);
	for (size_t i = 0; i < count; i++) { /* equal names lie side by side */
		if (kept && !by_name(&rows[kept - 1], &rows[i])) {
			rows[kept - 1].counts[0] += rows[i].counts[0];
			rows[kept - 1].counts[1] += rows[i].counts[1];
		} else {
			rows[kept++] = rows[i];
		}
	}
	for (size_t i = 0; i < kept; i++) {
		rows[i].old = old_runs ? (double)rows[i].counts[0] / old_runs : 0;
		rows[i].now = now_runs ? (double)rows[i].counts[1] / now_runs : 0;
	}
	qsort(rows, kept, sizeof(*rows), by_difference);
	if (means)
		fprintf(file, "# calls of a run, mean of %u old and %u new run%s\n", old_runs,
			now_runs, now_runs == 1 ? "" : "s");
	fprintf(file, "%-7s %12s %12s %9s  %s\n", "", "old", "new", "change",
		"caller -> callee [module]");
	for (size_t i = 0; i < kept; i++) {
		if (rows[i].old == rows[i].now)
			continue;
		if (rows[i].old && rows[i].now &&
		    difference(&rows[i]) < options->least * rows[i].old)
			continue;
		differing++;
		if (!options->top || differing <= options->top)
			write_row(file, &rows[i], means, options->color);
	}
	free(rows);
	post_edges_release(&old_edges);
	post_edges_release(&now_edges);
	return differing;
}
