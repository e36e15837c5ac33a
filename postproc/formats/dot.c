/* dot: the call graph as a picture for Graphviz. Edges with less than --min of all time, or of
 * all calls where there are no times, are left out, and a caption says so; what is shown keeps
 * the costliest way that leads to it. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "postproc/measure/edges.h"
#include "postproc/formats/format.h"
#include "postproc/measure/measure.h"
#include "postproc/model/lines.h"

#define USUAL_SHARE 0.005
#define MOST_EDGES 400 /* dot takes minutes for more, and no one can read it */

/* Inside of quotes. */
static void write_text(FILE *file, const char *text)
{
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			putc('\\', file);
		putc((unsigned char)*text < 0x20 ? ' ' : *text, file);
	}
}

/* From white over yellow to red. */
static void write_color(FILE *file, double share)
{
	double warm = sqrt(share > 1 ? 1 : share);

	fprintf(file, "\"%.3f %.3f 1.000\"", 0.15 * (1 - warm), 0.05 + 0.6 * warm);
}

/* 1234567 -> 1.23M: three digits say enough in a picture */
static void write_count(FILE *file, uint64_t count)
{
	static const char units[] = {' ', 'k', 'M', 'G', 'T', 'P', 'E'};
	double value = (double)count;
	unsigned unit = 0;

	for (; value >= 999.5 && unit + 1 < sizeof(units); unit++)
		value /= 1000;
	if (unit)
		fprintf(file, "%.3g%c", value, units[unit]);
	else
		fprintf(file, "%" PRIu64, count);
}

struct picture {
	struct post_output *output;
	struct post_edges edges;
	struct post_tallies tallies;
	struct post_metrics *metrics; /* by number of the edge; NULL: there are no times */
	uint64_t *cost;               /* likewise: time from call to return, else calls */
	uint32_t *order;              /* edges, most cost first */
	bool *shown;                  /* by edge */
	bool *used, *led_to;          /* by function: it is shown, and so is an edge to it */
	uint64_t whole;               /* what shares are of */
};

static int by_cost(const void *left, const void *right, void *context)
{
	const struct picture *picture = context;
	uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;

	if (picture->cost[a] != picture->cost[b])
		return picture->cost[a] > picture->cost[b] ? -1 : 1;
	return a < b ? -1 : a > b;
}

static void add_times(struct picture *picture)
{
	const struct post_measures *measures = picture->output->measures;
	const struct post_session *session = picture->output->session;
	struct post_table index = {0};

	picture->metrics = post_allocate(picture->edges.count, sizeof(*picture->metrics));
	for (uint32_t i = 0; i < picture->edges.count; i++) {
		const struct post_edge *edge = &picture->edges.items[i];
		post_table_put(&index, (struct post_key){{edge->caller, edge->callee}}, i);
	}
	for (size_t i = 0; i < session->call_count; i++) {
		const struct post_call *call = &session->calls[i];
		uint32_t edge =
			post_table_find(&index, (struct post_key){{call->caller, call->callee}});
		if (call->hidden || edge == POST_NONE)
			continue;
		post_metrics_add(&picture->metrics[edge], &measures->calls[i]);
		picture->whole += measures->calls[i].value[POST_METRIC_SELF];
	}
	post_table_release(&index);
}

static void show_edge(struct picture *picture, uint32_t edge)
{
	const struct post_edge *about = &picture->edges.items[edge];

	picture->shown[edge] = true;
	picture->used[about->caller] = picture->used[about->callee] = true;
	picture->led_to[about->callee] |= about->caller != about->callee;
}

/* What is shown should not hang in the air: the costliest way to it is added. */
static void connect(struct picture *picture)
{
	size_t count = picture->output->session->function_count;
	uint32_t *best = post_allocate(count, sizeof(*best)); /* edge that leads to a function */

	for (size_t f = 0; f < count; f++)
		best[f] = POST_NONE;
	for (size_t i = picture->edges.count; i-- > 0;) {
		const struct post_edge *edge = &picture->edges.items[picture->order[i]];
		if (edge->caller != edge->callee)
			best[edge->callee] = picture->order[i];
	}
	for (size_t f = 0; f < count; f++) {
		uint32_t at = (uint32_t)f;
		while (picture->used[at] && !picture->led_to[at] && best[at] != POST_NONE) {
			show_edge(picture, best[at]);
			at = picture->edges.items[best[at]].caller;
		}
	}
	free(best);
}

static void choose(struct picture *picture)
{
	const struct post_output_options *options = &picture->output->options;
	double least = options->min_share >= 0 ? options->min_share : USUAL_SHARE;
	uint64_t most = options->top ? options->top : MOST_EDGES;

	for (uint32_t i = 0; i < picture->edges.count; i++) {
		picture->order[i] = i;
		picture->cost[i] = picture->metrics ? picture->metrics[i].value[POST_METRIC_TOTAL]
						    : picture->edges.items[i].count;
	}
	qsort_r(picture->order, picture->edges.count, sizeof(*picture->order), by_cost, picture);
	for (size_t i = 0; i < picture->edges.count && i < most; i++) {
		if ((double)picture->cost[picture->order[i]] < least * (double)picture->whole)
			break;
		show_edge(picture, picture->order[i]);
	}
	connect(picture);
}

/* "min 1 us, avg 2 us, max 3 us", and a total in front. */
static void write_times(const struct picture *picture, const struct post_metrics *metrics,
			bool node)
{
	const struct post_measures *measures = picture->output->measures;
	FILE *file = picture->output->file;
	const uint64_t *value = metrics->value;
	char text[64];

	if (!value[POST_METRIC_TIMED])
		return;
	if (node) {
		fprintf(file, "\\ntotal %s",
			post_measures_text(measures, value[POST_METRIC_TOTAL], text, sizeof(text)));
		fprintf(file, ", self %s",
			post_measures_text(measures, value[POST_METRIC_SELF], text, sizeof(text)));
	}
	fprintf(file, "\\nmin %s",
		post_measures_text(measures, value[POST_METRIC_MIN], text, sizeof(text)));
	if (!node)
		fprintf(file, ", avg %s",
			post_measures_text(measures, post_metrics_average(metrics), text,
					   sizeof(text)));
	fprintf(file, ", max %s",
		post_measures_text(measures, value[POST_METRIC_MAX], text, sizeof(text)));
}

static void write_node(const struct picture *picture, const struct post_tally *tally,
		       double hottest)
{
	const struct post_session *session = picture->output->session;
	const struct post_function *function = &session->functions[tally->function];
	const struct post_metrics *metrics =
		picture->metrics ? &picture->output->measures->functions[tally->function] : NULL;
	double share =
		picture->edges.total ? (double)tally->calls / (double)picture->edges.total : 0;
	FILE *file = picture->output->file;
	char line[512];

	fprintf(file, "\tf%u [label=\"", tally->function);
	if (session->options.lines && function->symbol &&
	    post_lines_text(session, function->module, function->address, line, sizeof(line))) {
		*strrchr(line, ':') = '\0';
		write_text(file, post_base_name(line));
		fputs("\\n", file);
	}
	write_text(file, function->name);
	if (metrics)
		write_times(picture, metrics, true);
	if (tally->calls) {
		fputs("\\n", file);
		write_count(file, tally->calls);
		if (metrics)
			fputs(tally->calls == 1 ? " call" : " calls", file);
		else
			fprintf(file, " (%.1f %%)", 100 * share);
	}
	fprintf(file, "\", tooltip=\"%" PRIu64 " calls received, %" PRIu64 " made [", tally->calls,
		tally->made);
	write_text(file, session->modules[function->module].name);
	fputs("]\", fillcolor=", file);
	write_color(file, metrics ? (double)metrics->value[POST_METRIC_SELF] / hottest
				  : (double)tally->calls / hottest);
	fputs("];\n", file);
}

static void write_edge(const struct picture *picture, uint32_t number, double heaviest)
{
	const struct post_edge *edge = &picture->edges.items[number];
	FILE *file = picture->output->file;
	double share = picture->whole ? (double)picture->cost[number] / (double)picture->whole : 0;

	fprintf(file, "\tf%u -> f%u [label=\"", edge->caller, edge->callee);
	write_count(file, edge->count);
	if (picture->metrics) {
		fprintf(file, " from %u site%s", edge->sites, edge->sites == 1 ? "" : "s");
		write_times(picture, &picture->metrics[number], false);
	}
	fprintf(file,
		"\", penwidth=%.2f, weight=%u, tooltip=\"%" PRIu64 " calls from %u site%s\"];\n",
		0.8 + 4 * sqrt((double)picture->cost[number] / heaviest),
		1 + (unsigned)(100 * (share > 10 ? 10 : share)), edge->count, edge->sites,
		edge->sites == 1 ? "" : "s");
}

static void finish(struct post_output *output)
{
	const struct post_session *session = output->session;
	struct picture picture = {.output = output};
	FILE *file = output->file;
	uint64_t left_out = 0;
	size_t hidden = 0;
	double hottest = 1, heaviest = 1;

	post_edges_collect(session, &picture.edges);
	post_tallies_collect(session, &picture.edges, &picture.tallies);
	picture.whole = picture.edges.total;
	if (output->measures && post_measures_timing(output->measures) == POST_TIMING_MEASURED) {
		picture.whole = 0;
		add_times(&picture);
	}
	picture.cost = post_allocate(picture.edges.count, sizeof(*picture.cost));
	picture.order = post_allocate(picture.edges.count, sizeof(*picture.order));
	picture.shown = post_allocate(picture.edges.count, sizeof(*picture.shown));
	picture.used = post_allocate(session->function_count, sizeof(*picture.used));
	picture.led_to = post_allocate(session->function_count, sizeof(*picture.led_to));
	choose(&picture);
	for (size_t i = 0; i < picture.tallies.count; i++) {
		const struct post_tally *tally = &picture.tallies.items[i];
		uint64_t heat = picture.metrics ? output->measures->functions[tally->function]
							  .value[POST_METRIC_SELF]
						: tally->calls;
		hottest = (double)heat > hottest ? (double)heat : hottest;
	}
	for (size_t i = 0; i < picture.edges.count; i++) {
		if ((double)picture.cost[i] > heaviest)
			heaviest = (double)picture.cost[i];
		hidden += !picture.shown[i];
		left_out += picture.shown[i] ? 0 : picture.edges.items[i].count;
	}
	fprintf(file, "digraph calls {\n"
		      "\tnode [shape=box, style=\"filled,rounded\", fontname=\"Helvetica\"];\n"
		      "\tedge [fontname=\"Helvetica\", fontsize=10, color=\"gray40\"];\n");
	if (hidden)
		fprintf(file,
			"\tlabel=\"%" PRIu64 " of %" PRIu64 " calls; %zu of %zu edges are left "
			"out\";\n",
			picture.edges.total - left_out, picture.edges.total, hidden,
			picture.edges.count);
	for (size_t i = 0; i < picture.tallies.count; i++) {
		if (picture.used[picture.tallies.items[i].function])
			write_node(&picture, &picture.tallies.items[i], hottest);
	}
	for (uint32_t i = 0; i < picture.edges.count; i++) {
		if (picture.shown[i])
			write_edge(&picture, i, heaviest);
	}
	fputs("}\n", file);
	free(picture.metrics);
	free(picture.cost);
	free(picture.order);
	free(picture.shown);
	free(picture.used);
	free(picture.led_to);
	post_tallies_release(&picture.tallies);
	post_edges_release(&picture.edges);
}

const struct post_format post_format_dot = {
	.name = "dot",
	.summary = "call graph for Graphviz (dot -Tsvg)",
	.uses = POST_USES_TOP | POST_USES_MIN | POST_USES_LINES,
	.measured = true,
	.finish = finish,
};
