/* The table of functions, with what was understood above it and the words in it explained below. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "postproc/energy/output.h"

/* Parts of the energy from which its standard error is remarked upon. */
#define UNSURE 0.04
#define BELOW 0.2

static void part_row(struct energy_output *output, const char *name, double joules, double seconds)
{
	char energy[32], time[32];

	if (joules == 0 && seconds == 0)
		return;
	fprintf(output->file, "%12s %10s %12s %12s %6s %11s %11s %9s %12s %12s %12s %12s  %s\n",
		energy_quantity(joules, "J", energy, sizeof(energy)), "", "", "", "",
		seconds > 0 ? energy_quantity(seconds, "s", time, sizeof(time)) : "", "", "", "",
		"", "", "", name);
}

/* The words that can stand behind a function, and what they mean. */
enum remark { BELOW_RESOLUTION, UNCERTAIN, RESOLVED, OPEN, CLOSE, REMARKS };
static const struct {
	const char *word, *meaning;
} remarks[REMARKS] = {
	[BELOW_RESOLUTION] = {"below resolution", "its standard error is above 20 %"},
	[UNCERTAIN] = {"unsure", "its standard error is above 4 %"},
	[RESOLVED] = {"resolved", "its calls are shorter than five samples: found by regression"},
	[OPEN] = {"open", "its power changes within a call and nothing traced explains it: trace "
			  "its callees next"},
	[CLOSE] = {"close", "tracing it costs more than it shows: leave it out next"},
};

/* Sets the words that were used in `used`. */
static void note(const struct energy_analysis *analysis, uint32_t function, bool *used, char *text,
		 size_t size)
{
	const struct energy_function *f = &analysis->result.functions[function];
	const struct energy_advice *advice = &analysis->advice[function];
	double self = energy_sum(f->self, analysis->result.channels);
	const bool below = f->uncertainty > BELOW * fabs(self);
	const bool said[REMARKS] = {
		[BELOW_RESOLUTION] = below,
		[UNCERTAIN] = !below && f->uncertainty > UNSURE * fabs(self),
		[RESOLVED] = analysis->use_resolved[function],
		[OPEN] = advice->open,
		[CLOSE] = advice->close,
	};

	text[0] = '\0';
	for (size_t i = 0; i < REMARKS; i++) {
		size_t length = strlen(text);
		if (!said[i])
			continue;
		used[i] = true;
		snprintf(text + length, size - length, "%s%s", length ? ", " : "  (",
			 remarks[i].word);
	}
	if (text[0])
		snprintf(text + strlen(text), size - strlen(text), ")");
}

static void header_lines(struct energy_output *output)
{
	const struct energy_analysis *a = output->analysis;
	const struct energy_result *result = &a->result;
	char text[512], energy[32];

	fprintf(output->file, "%s\n",
		energy_power_describe(&a->power, a->power_path, text, sizeof(text)));
	if (output->settings->power.tau > 0)
		fprintf(output->file, "capacitors: %s taken out\n",
			energy_quantity(output->settings->power.tau, "s", text, sizeof(text)));
	fprintf(output->file, "clock: %s\n", energy_clock_describe(&a->clock, text, sizeof(text)));
	if (a->load.pulses)
		fprintf(output->file,
			"marks: %zu pulses of %s and %s, %.1f times as certain as at any other "
			"place; taken out of the curve\n",
			a->load.pulses, energy_quantity(a->load.watts, "W", energy, sizeof(energy)),
			energy_quantity(a->load.seconds, "s", text, sizeof(text)),
			a->load.certainty);
	fprintf(output->file, "energy: %s in %.4g s, %" PRIu64 " calls; ",
		energy_quantity(energy_total(a), "J", energy, sizeof(energy)),
		result->end - result->begin, result->counts.calls);
	fprintf(output->file, "functions %s, which is 100 %% below; noise %s\n",
		energy_quantity(energy_functions(a), "J", energy, sizeof(energy)),
		energy_quantity(a->noise, "W", text, sizeof(text)));
	if (a->hook.known)
		fprintf(output->file,
			"hooks: %.3g + %.3g us a call at %s, %.2f %% of the time; taken out\n",
			(a->hook.enter_after + a->hook.exit_before) * 1e6,
			(a->hook.enter_before + a->hook.exit_after) * 1e6,
			energy_quantity(a->hook.watts, "W", energy, sizeof(energy)),
			energy_percent(result->hook_seconds, energy_run_seconds(result)));
	else
		fprintf(output->file,
			"hooks: their cost is not known and is part of the functions (--hook)\n");
	if (result->counts.lost || result->counts.stray || result->counts.open)
		fprintf(output->file,
			"trace: events are missing in %" PRIu64 " places, %" PRIu64
			" returns without a call, %" PRIu64 " calls that did not end\n",
			result->counts.lost, result->counts.stray, result->counts.open);
	if (result->unknown > 0)
		fprintf(output->file, "samples are missing for %s\n",
			energy_quantity(result->unknown, "s", text, sizeof(text)));
	if (a->machines.count)
		fprintf(output->file,
			"machines: %zu states of peripherals, %zu of them expected and not seen in "
			"the curve\n",
			a->occupations.count, a->unseen);
	fprintf(output->file, "changes of power: %zu, of them %zu at borders of calls\n\n",
		a->changes, a->explained);
}

/* A smaller part of a channel is not listed: where a function draws nothing from a supply, it is
 * what the errors of others leave there. */
#define LEAST_LISTED 1e-3

static void channel_rows(struct energy_output *output, unsigned channel, const uint32_t *order,
			 size_t count)
{
	const struct energy_analysis *a = output->analysis;
	const struct energy_result *result = &a->result;
	const double total = result->total[channel];
	char text[2][32];

	fprintf(output->file, "\nchannel %s: %s, of these %s later\n",
		a->power.channel_names[channel][0] ? a->power.channel_names[channel] : "?",
		energy_quantity(total, "J", text[0], 32),
		energy_quantity(result->later[channel], "J", text[1], 32));
	for (size_t i = 0; i < count; i++) {
		double joules = result->functions[order[i]].self[channel];
		if (fabs(joules) >= LEAST_LISTED * fabs(total))
			fprintf(output->file, "%12s  %s\n",
				energy_quantity(joules, "J", text[0], 32),
				energy_name(a, order[i]));
	}
}

static void write_report(struct energy_output *output)
{
	const struct energy_analysis *a = output->analysis;
	const struct energy_result *result = &a->result;
	uint32_t *order = calloc(result->function_count + 1, sizeof(*order));
	size_t count = order ? energy_order(a, order) : 0;
	const double total = energy_total(a), program = energy_functions(a);
	bool used[REMARKS] = {false};

	header_lines(output);
	fprintf(output->file, "%12s %10s %12s %12s %6s %11s %11s %9s %12s %12s %12s %12s  %s\n",
		"self", "+-", "inclusive", "later", "%", "time", "power", "calls", "min a call",
		"mean a call", "max a call", "changes/call", "function");
	for (size_t i = 0; i < count && (!output->top || i < output->top); i++) {
		const struct energy_function *f = &result->functions[order[i]];
		double self = energy_sum(f->self, result->channels);
		double inclusive = energy_sum(f->inclusive, result->channels);
		const bool ended = isfinite(f->mean), some_time = self > 0 && f->self_seconds > 0;
		char texts[9][32], notes[128];
		note(a, order[i], used, notes, sizeof(notes));
		fprintf(output->file,
			"%12s %10s %12s %12s %6.2f %11s %11s %9" PRIu64
			" %12s %12s %12s %12.2f  %s%s\n",
			energy_quantity(self, "J", texts[0], 32),
			energy_quantity(f->uncertainty, "J", texts[1], 32),
			energy_quantity(inclusive, "J", texts[2], 32),
			f->later != 0 ? energy_quantity(f->later, "J", texts[3], 32) : "",
			energy_percent(self + f->later, program),
			energy_quantity(f->self_seconds, "s", texts[4], 32),
			some_time ? energy_quantity(self / f->self_seconds, "W", texts[5], 32) : "",
			f->calls, ended ? energy_quantity(f->least, "J", texts[6], 32) : "",
			ended ? energy_quantity(f->mean, "J", texts[7], 32) : "",
			ended ? energy_quantity(f->most, "J", texts[8], 32) : "",
			(double)a->advice[order[i]].changes / (double)f->calls,
			energy_name(a, order[i]), notes);
	}
	part_row(output, "(outside)", energy_sum(result->outside, result->channels),
		 result->outside_seconds);
	part_row(output, "(tracer)", energy_sum(result->hooks, result->channels),
		 result->hook_seconds);
	part_row(output, "(transfer)", energy_sum(result->transfer, result->channels),
		 result->transfer_seconds);
	if (fabs(a->unexplained) > 1e-9 * fabs(total))
		part_row(output, "(unexplained)", a->unexplained, 0);
	fputs("\nself: without callees; inclusive and a call: with them; later: what a peripheral "
	      "used because of its calls\n",
	      output->file);
	for (size_t i = 0; i < REMARKS; i++) {
		if (used[i])
			fprintf(output->file, "(%s): %s\n", remarks[i].word, remarks[i].meaning);
	}
	for (unsigned k = 0; k < result->channels && result->channels > 1; k++)
		channel_rows(output, k, order,
			     output->top && output->top < count ? output->top : count);
	free(order);
}

const struct energy_format energy_format_report = {
	"report", "a table of functions (the default)", NULL, NULL, write_report, true};
