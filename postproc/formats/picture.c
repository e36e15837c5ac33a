/* Choosing what a call graph shows. */
#include "postproc/formats/picture.h"

#include <inttypes.h>
#include <stdlib.h>

#define USUAL_SHARE 0.005

void post_picture_write_count(FILE *file, uint64_t count)
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

static int by_cost(const void *left, const void *right, void *context)
{
	const struct post_picture *picture = context;
	uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;

	if (picture->cost[a] != picture->cost[b])
		return picture->cost[a] > picture->cost[b] ? -1 : 1;
	return a < b ? -1 : a > b;
}

static void add_times(struct post_picture *picture)
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

static void show_edge(struct post_picture *picture, uint32_t edge)
{
	const struct post_edge *about = &picture->edges.items[edge];

	picture->shown[edge] = true;
	picture->used[about->caller] = picture->used[about->callee] = true;
	picture->led_to[about->callee] |= about->caller != about->callee;
}

/* What is shown should not hang in the air: the costliest way to it is added. */
static void connect(struct post_picture *picture)
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

static void choose(struct post_picture *picture, uint64_t usual_top)
{
	const struct post_output_options *options = &picture->output->options;
	double least = options->min_share >= 0 ? options->min_share : USUAL_SHARE;
	uint64_t most = options->top ? options->top : usual_top;

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

void post_picture_choose(struct post_picture *picture, const struct post_output *output,
			 uint64_t usual_top)
{
	const struct post_session *session = output->session;

	*picture = (struct post_picture){.output = output, .hottest = 1, .heaviest = 1};
	post_edges_collect(session, &picture->edges);
	post_tallies_collect(session, &picture->edges, &picture->tallies);
	picture->whole = picture->edges.total;
	if (output->measures && post_measures_timing(output->measures) == POST_TIMING_MEASURED) {
		picture->whole = 0;
		add_times(picture);
	}
	picture->cost = post_allocate(picture->edges.count, sizeof(*picture->cost));
	picture->order = post_allocate(picture->edges.count, sizeof(*picture->order));
	picture->shown = post_allocate(picture->edges.count, sizeof(*picture->shown));
	picture->used = post_allocate(session->function_count, sizeof(*picture->used));
	picture->led_to = post_allocate(session->function_count, sizeof(*picture->led_to));
	choose(picture, usual_top);
	for (size_t i = 0; i < picture->tallies.count; i++) {
		const struct post_tally *tally = &picture->tallies.items[i];
		uint64_t heat = picture->metrics ? output->measures->functions[tally->function]
							   .value[POST_METRIC_SELF]
						 : tally->calls;
		if ((double)heat > picture->hottest)
			picture->hottest = (double)heat;
	}
	for (size_t i = 0; i < picture->edges.count; i++) {
		if ((double)picture->cost[i] > picture->heaviest)
			picture->heaviest = (double)picture->cost[i];
		picture->hidden += !picture->shown[i];
		picture->left_out += picture->shown[i] ? 0 : picture->edges.items[i].count;
	}
}

void post_picture_write(const struct post_picture *picture,
			void (*write_node)(const struct post_picture *picture,
					   const struct post_tally *tally),
			void (*write_edge)(const struct post_picture *picture, uint32_t edge))
{
	for (size_t i = 0; i < picture->tallies.count; i++) {
		if (picture->used[picture->tallies.items[i].function])
			write_node(picture, &picture->tallies.items[i]);
	}
	for (uint32_t i = 0; i < picture->edges.count; i++) {
		if (picture->shown[i])
			write_edge(picture, i);
	}
}

void post_picture_release(struct post_picture *picture)
{
	free(picture->metrics);
	free(picture->cost);
	free(picture->order);
	free(picture->shown);
	free(picture->used);
	free(picture->led_to);
	post_tallies_release(&picture->tallies);
	post_edges_release(&picture->edges);
}
