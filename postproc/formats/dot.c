/* dot: the call graph as a picture for Graphviz. Edges with less than --min of all time, or of
 * all calls where there are no times, are left out, and a caption says so (picture.h). */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "postproc/formats/losses.h"
#include "postproc/formats/picture.h"
#include "postproc/model/lines.h"

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

/* "min 1 us, avg 2 us, max 3 us", and a total in front. */
static void write_times(const struct post_picture *picture, const struct post_metrics *metrics,
			bool node)
{
	const struct post_measures *measures = picture->output->measures;
	FILE *file = picture->output->file;
	const uint64_t *value = metrics->value;
	char text[64];

	if (node && (value[POST_METRIC_TIMED] || post_metrics_at_least(metrics)))
		fprintf(file, "\\ntotal %s",
			post_measures_total_text(measures, metrics, text, sizeof(text)));
	if (!value[POST_METRIC_TIMED])
		return;
	if (node && post_metrics_self_known(metrics))
		fprintf(file, ", self %s",
			post_measures_text(measures, value[POST_METRIC_SELF], text, sizeof(text)));
	fprintf(file, "\\nmin %s",
		post_measures_text(measures, value[POST_METRIC_MIN], text, sizeof(text)));
	if (!node)
		fprintf(file, ", avg %s",
			post_measures_text(measures, post_metrics_average(metrics), text,
					   sizeof(text)));
	fprintf(file, ", max %s",
		post_measures_text(measures, value[POST_METRIC_MAX], text, sizeof(text)));
	fputs(post_metrics_partly_text(metrics, text, sizeof(text)), file);
}

static void write_node(const struct post_picture *picture, const struct post_tally *tally)
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
		post_picture_write_count(file, tally->calls);
		if (metrics)
			fputs(tally->calls == 1 ? " call" : " calls", file);
		else
			fprintf(file, " (%.1f %%)", 100 * share);
	}
	fprintf(file, "\", tooltip=\"%" PRIu64 " call%s received, %" PRIu64 " made [", tally->calls,
		tally->calls == 1 ? "" : "s", tally->made);
	write_text(file, session->modules[function->module].name);
	fputs("]\", fillcolor=", file);
	write_color(file, metrics ? (double)metrics->value[POST_METRIC_SELF] / picture->hottest
				  : (double)tally->calls / picture->hottest);
	fputs("];\n", file);
}

static void write_edge(const struct post_picture *picture, uint32_t number)
{
	const struct post_edge *edge = &picture->edges.items[number];
	FILE *file = picture->output->file;
	double share = picture->whole ? (double)picture->cost[number] / (double)picture->whole : 0;

	fprintf(file, "\tf%u -> f%u [label=\"", edge->caller, edge->callee);
	post_picture_write_count(file, edge->count);
	if (picture->metrics) {
		fprintf(file, " from %u site%s", edge->sites, edge->sites == 1 ? "" : "s");
		write_times(picture, &picture->metrics[number], false);
	}
	fprintf(file,
		"\", penwidth=%.2f, weight=%u, tooltip=\"%" PRIu64 " calls from %u site%s\"];\n",
		0.8 + 4 * sqrt((double)picture->cost[number] / picture->heaviest),
		1 + (unsigned)(100 * (share > 10 ? 10 : share)), edge->count, edge->sites,
		edge->sites == 1 ? "" : "s");
}

/* What the picture leaves out, and what the trace lacks, below the graph. Names of programs in it
 * may have letters that end a label. */
static void write_label(FILE *file, const struct post_picture *picture,
			const struct post_session *session)
{
	char *text = NULL;
	size_t size = 0;
	FILE *memory = open_memstream(&text, &size);

	if (!memory)
		return;
	if (picture->hidden)
		fprintf(memory, "%" PRIu64 " of %" PRIu64 " calls; %zu of %zu edges are left out\n",
			picture->edges.total - picture->left_out, picture->edges.total,
			picture->hidden, picture->edges.count);
	post_losses_write(memory, session, "", "\n");
	fclose(memory);
	if (text && *text) {
		fputs("\tlabel=\"", file);
		for (char *line = text, *end; (end = strchr(line, '\n')); line = end + 1) {
			*end = '\0';
			write_text(file, line);
			fputs("\\n", file);
		}
		fputs("\";\n", file);
	}
	free(text);
}

static void finish(struct post_output *output)
{
	struct post_picture picture;
	FILE *file = output->file;

	post_picture_choose(&picture, output, MOST_EDGES);
	fprintf(file, "digraph calls {\n"
		      "\tnode [shape=box, style=\"filled,rounded\", fontname=\"Helvetica\"];\n"
		      "\tedge [fontname=\"Helvetica\", fontsize=10, color=\"gray40\"];\n");
	write_label(file, &picture, output->session);
	post_picture_write(&picture, write_node, write_edge);
	fputs("}\n", file);
	post_picture_release(&picture);
}

const struct post_format post_format_dot = {
	.name = "dot",
	.summary = "call graph for Graphviz (dot -Tsvg)",
	.uses = POST_USES_TOP | POST_USES_MIN | POST_USES_LINES | POST_USES_PDF,
	.measured = true,
	.finish = finish,
};
