#include "postproc/energy/settled.h"

#include <math.h>
#include <stdlib.h>

#include "common/memory.h"
#include "postproc/energy/noise.h"

/* Of a span that are enough, and of all of them that must be there. */
#define MOST_OF_SPAN 64
#define LEAST 100
#define MOST 100000

struct settled {
	const struct energy_resolve_input *input;
	float *values;
	size_t count;
	size_t run;
	bool full;
};

/* Samples that lie inside of the span, with one to spare at each end, as the clock may be off. */
static void segment(void *context, struct energy_lane *lane, uint32_t node, double from, double to)
{
	struct settled *settled = context;
	const struct energy_power *power = settled->input->power;

	(void)lane;
	if (node == ENERGY_TRANSFER || node == ENERGY_ROOT || to - from < 4 * power->interval)
		return;
	while (settled->run + 1 < power->run_count && power->runs[settled->run + 1].time <= from)
		settled->run++;
	const struct energy_run *run = &power->runs[settled->run];
	const double first = ceil((from - run->time) / power->interval) + 1;
	const double end = fmin(floor((to - run->time) / power->interval) - 1,
				fmin((double)run->count, first + MOST_OF_SPAN));
	if (first < 0 || end < first + 2)
		return;
	for (size_t i = (size_t)first; i < (size_t)end && settled->count < MOST; i++)
		settled->values[settled->count++] =
			(float)energy_power_at(power, settled->input->channel, run->first + i);
	settled->full = settled->count == MOST;
}

enum litifut_status energy_settled_noise(const struct energy_resolve_input *input, double *noise,
					 struct litifut_error *error)
{
	struct settled settled = {.input = input};
	const struct energy_visitor visitor = {
		.context = &settled, .segment = segment, .enough = &settled.full};
	struct energy_walk_counts counts;
	struct energy_tree tree;

	*noise = 0;
	settled.values = litifut_memory_array(MOST, sizeof(*settled.values));
	if (!settled.values)
		return litifut_error_set(error, LITIFUT_ERROR_IO, NULL, NULL, LITIFUT_NO_ADDRESS,
					 "not enough memory for the noise");
	energy_tree_start(&tree);
	enum litifut_status status =
		energy_walk(input->events, input->clock, &tree, input->result->begin,
			    input->result->end, &visitor, &counts, error);
	energy_tree_release(&tree);
	if (status == LITIFUT_OK && settled.count >= LEAST)
		*noise = energy_sample_noise(settled.values, settled.count);
	free(settled.values);
	return status;
}
