/* The calls and the power on one timeline, for Perfetto and chrome://tracing: microseconds of the
 * analyser's clock. */
#include <inttypes.h>
#include <math.h>

#include "postproc/energy/output.h"

#define MOST_POINTS                                                                                \
	200000u /* of a channel: of more samples, the least and the most of some of them */

struct timeline {
	struct energy_output *output;
	const struct energy_tree *tree;
	bool some;
};

static void text_of(FILE *file, const char *text)
{
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			fputc('\\', file);
		if ((unsigned char)*text >= ' ')
			fputc(*text, file);
	}
}

static FILE *begin(struct timeline *timeline)
{
	FILE *file = timeline->output->file;

	fputs(timeline->some ? ",\n" : "", file);
	timeline->some = true;
	return file;
}

static void leave(void *context, struct energy_lane *lane, struct energy_frame *frame,
		  uint32_t under, enum energy_event_kind kind, double time)
{
	struct timeline *timeline = context;
	FILE *file = begin(timeline);
	const uint32_t function = timeline->tree->nodes[frame->node].function;

	(void)under, (void)kind;
	fprintf(file, "{\"ph\":\"X\",\"pid\":1,\"tid\":%u,\"ts\":%.3f,\"dur\":%.3f,\"name\":\"",
		lane->number + 1, frame->entered * 1e6, fmax(0, time - frame->entered) * 1e6);
	text_of(file, energy_name(timeline->output->analysis, function));
	fputs("\"}", file);
}

static void point(struct timeline *timeline, unsigned channel, double time, double watts)
{
	const struct energy_power *power = &timeline->output->analysis->power;
	FILE *file = begin(timeline);

	fprintf(file, "{\"ph\":\"C\",\"pid\":1,\"ts\":%.3f,\"name\":\"power", time * 1e6);
	if (power->channels > 1) {
		fputc(' ', file);
		text_of(file, power->channel_names[channel]);
	}
	fprintf(file, "\",\"args\":{\"W\":%.6g}}", watts);
}

static void write_curve(struct timeline *timeline, unsigned channel)
{
	const struct energy_power *power = &timeline->output->analysis->power;
	const size_t step = 1 + power->count / (MOST_POINTS / 2);

	for (size_t r = 0; r < power->run_count; r++) {
		const struct energy_run *run = &power->runs[r];
		const float *watts = power->watts[channel] + run->first;

		for (size_t i = 0; i < run->count; i += step) {
			size_t low = i, high = i;

			for (size_t k = i; k < i + step && k < run->count; k++) {
				low = watts[k] < watts[low] ? k : low;
				high = watts[k] > watts[high] ? k : high;
			}
			const size_t first = low < high ? low : high,
				     last = low < high ? high : low;

			point(timeline, channel, run->time + (double)first * power->interval,
			      watts[first]);
			if (last != first)
				point(timeline, channel, run->time + (double)last * power->interval,
				      watts[last]);
		}
		/* in a hole nothing is known */
		point(timeline, channel, run->time + (double)run->count * power->interval, 0);
	}
}

static void write_chrome(struct energy_output *output)
{
	const struct energy_analysis *a = output->analysis;
	struct energy_tree tree;
	struct timeline timeline = {.output = output, .tree = &tree};
	const struct energy_visitor visitor = {.context = &timeline, .leave = leave};
	struct energy_walk_counts counts;

	fputs("{\"traceEvents\":[\n", output->file);
	energy_tree_start(&tree);
	output->status = energy_walk(&a->events, &a->clock, &tree, a->result.begin, a->result.end,
				     &visitor, &counts, &output->error);
	energy_tree_release(&tree);
	for (unsigned channel = 0; channel < a->power.channels; channel++)
		write_curve(&timeline, channel);
	fputs("\n]}\n", output->file);
}

const struct energy_format energy_format_chrome = {
	"chrome", "calls and power on one timeline, for Perfetto", NULL, NULL, write_chrome, false};
