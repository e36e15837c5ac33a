/* mermaid: the call graph as a flowchart in Mermaid's language, which GitHub, GitLab and many
 * wikis draw in a page of text. It shows what dot shows, but less of it: at most 60 edges. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "postproc/formats/picture.h"

/* Mermaid refuses a text of more than 50,000 characters: 120 names, of which some characters are
 * written as five, and 60 edges with a style are less. */
#define MOST_EDGES 60
#define MOST_OF_NAME 160

/* Inside of quotes, where '#' begins a character by its number. The end of a long name is left out,
 * but not a part of a character of several bytes. */
static void write_text(FILE *file, const char *text)
{
	const char *end = text + strnlen(text, MOST_OF_NAME + 1);
	bool cut = end - text > MOST_OF_NAME;

	if (cut)
		end--;
	while (cut && ((unsigned char)*end & 0xc0) == 0x80)
		end--;
	for (; text < end; text++) {
		if (strchr("\"#<>&;\\`", *text) || (unsigned char)*text < 0x20)
			fprintf(file, "#%u;", (unsigned char)*text);
		else
			putc(*text, file);
	}
	if (cut)
		fputs("...", file);
}

static void write_node(const struct post_picture *picture, const struct post_tally *tally)
{
	const struct post_session *session = picture->output->session;
	const struct post_measures *measures = picture->output->measures;
	FILE *file = picture->output->file;
	char text[64];

	fprintf(file, "    f%u[\"", tally->function);
	write_text(file, session->functions[tally->function].name);
	const struct post_metrics *metrics =
		picture->metrics ? &measures->functions[tally->function] : NULL;
	const bool timed = metrics && metrics->value[POST_METRIC_TIMED];

	if (timed || (metrics && post_metrics_at_least(metrics))) {
		fputs("<br/>total ", file);
		write_text(file, post_measures_total_text(measures, metrics, text, sizeof(text)));
	}
	if (timed && post_metrics_self_known(metrics))
		fprintf(file, ", self %s",
			post_measures_text(measures, metrics->value[POST_METRIC_SELF], text,
					   sizeof(text)));
	fputs("\"]\n", file);
}

static void write_edge(const struct post_picture *picture, uint32_t number)
{
	const struct post_edge *edge = &picture->edges.items[number];
	FILE *file = picture->output->file;
	char text[64];

	fprintf(file, "    f%u -->|\"", edge->caller);
	post_picture_write_count(file, edge->count);
	if (picture->metrics && picture->metrics[number].value[POST_METRIC_TIMED])
		fprintf(file, " in %s",
			post_measures_text(picture->output->measures,
					   picture->metrics[number].value[POST_METRIC_TOTAL], text,
					   sizeof(text)));
	fprintf(file, "\"| f%u\n", edge->callee);
}

static void finish(struct post_output *output)
{
	struct post_picture picture;
	FILE *file = output->file;
	unsigned link = 0;

	post_picture_choose(&picture, output, MOST_EDGES);
	fputs("flowchart TD\n", file);
	if (picture.hidden)
		fprintf(file,
			"    %%%% %" PRIu64 " of %" PRIu64
			" calls; %zu of %zu edges are left out\n",
			picture.edges.total - picture.left_out, picture.edges.total, picture.hidden,
			picture.edges.count);
	post_picture_write(&picture, write_node, write_edge);
	for (uint32_t i = 0; i < picture.edges.count; i++) {
		if (picture.shown[i])
			fprintf(file, "    linkStyle %u stroke-width:%.1fpx\n", link++,
				1 + 4 * sqrt((double)picture.cost[i] / picture.heaviest));
	}
	post_picture_release(&picture);
}

const struct post_format post_format_mermaid = {
	.name = "mermaid",
	.summary = "call graph for pages that draw Mermaid (GitHub, GitLab)",
	.uses = POST_USES_TOP | POST_USES_MIN,
	.measured = true,
	.finish = finish,
};
