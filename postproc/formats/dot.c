/* dot: the call graph as a picture for Graphviz. What makes less than --min of
 * all calls is left out, and told so in a caption. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "postproc/measure/edges.h"
#include "postproc/formats/format.h"

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

static void finish(struct post_output *output)
{
	const struct post_session *session = output->session;
	FILE *file = output->file;
	struct post_edges edges;
	struct post_tallies tallies;
	double least = output->options.min_share >= 0 ? output->options.min_share : USUAL_SHARE;
	uint64_t left_out = 0, most = output->options.top ? output->options.top : MOST_EDGES;
	size_t shown = 0;
	double hottest = 1, heaviest = 1;

	post_edges_collect(session, &edges);
	post_tallies_collect(session, &edges, &tallies);
	for (size_t i = 0; i < tallies.count; i++) {
		if ((double)tallies.items[i].calls > hottest)
			hottest = (double)tallies.items[i].calls;
	}
	if (edges.count)
		heaviest = (double)edges.items[0].count;
	bool *used = post_allocate(session->function_count, sizeof(*used));
	for (; shown < edges.count && shown < most; shown++) { /* they come by count */
		if ((double)edges.items[shown].count < least * (double)edges.total)
			break;
		used[edges.items[shown].caller] = used[edges.items[shown].callee] = true;
	}
	for (size_t i = shown; i < edges.count; i++)
		left_out += edges.items[i].count;

	fprintf(file, "digraph calls {\n"
		      "\tnode [shape=box, style=\"filled,rounded\", fontname=\"Helvetica\"];\n"
		      "\tedge [fontname=\"Helvetica\", fontsize=10, color=\"gray40\"];\n");
	if (shown < edges.count)
		fprintf(file,
			"\tlabel=\"%" PRIu64 " of %" PRIu64 " calls; %zu of %zu edges are left "
			"out\";\n",
			edges.total - left_out, edges.total, edges.count - shown, edges.count);
	for (size_t i = 0; i < tallies.count; i++) {
		const struct post_tally *tally = &tallies.items[i];
		const struct post_function *function = &session->functions[tally->function];
		double share = edges.total ? (double)tally->calls / (double)edges.total : 0;
		if (!used[tally->function])
			continue;
		fprintf(file, "\tf%u [label=\"", tally->function);
		write_text(file, function->name);
		if (tally->calls) {
			fputs("\\n", file);
			write_count(file, tally->calls);
			fprintf(file, " (%.1f %%)", 100 * share);
		}
		fprintf(file, "\", tooltip=\"%" PRIu64 " calls received, %" PRIu64 " made [",
			tally->calls, tally->made);
		write_text(file, session->modules[function->module].name);
		fputs("]\", fillcolor=", file);
		write_color(file, (double)tally->calls / hottest);
		fputs("];\n", file);
	}
	for (size_t i = 0; i < shown; i++) {
		const struct post_edge *edge = &edges.items[i];
		double share = (double)edge->count / (double)edges.total;
		fprintf(file, "\tf%u -> f%u [label=\"", edge->caller, edge->callee);
		write_count(file, edge->count);
		fprintf(file,
			"\", penwidth=%.2f, weight=%u, tooltip=\"%" PRIu64
			" calls from %u site%s\"];\n",
			0.8 + 4 * sqrt((double)edge->count / heaviest), 1 + (unsigned)(100 * share),
			edge->count, edge->sites, edge->sites == 1 ? "" : "s");
	}
	fputs("}\n", file);
	free(used);
	post_tallies_release(&tallies);
	post_edges_release(&edges);
}

const struct post_format post_format_dot = {
	.name = "dot",
	.summary = "call graph for Graphviz (dot -Tsvg)",
	.uses = POST_USES_TOP | POST_USES_MIN,
	.finish = finish,
};
