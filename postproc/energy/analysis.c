#include "postproc/energy/analysis.h"

#include "postproc/energy/calibration.h"
#include "postproc/energy/noise.h"
#include "postproc/energy/shift.h"
#include "postproc/energy/waits.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/memory.h"

/* The regression that looks for the shift needs no more samples than these. */
#define REFINE_SAMPLES 1000000
/* A resolved level with a larger part as its standard error is not used. */
#define MOST_ERROR 0.10
/* Samples of a mean span, below which the regression is asked. */
#define SHORT 5

double energy_total(const struct energy_analysis *analysis)
{
	return energy_sum(analysis->result.total, analysis->result.channels);
}

double energy_functions(const struct energy_analysis *analysis)
{
	const struct energy_result *result = &analysis->result;
	double sum = energy_sum(result->later, result->channels);

	for (size_t i = 0; i < result->function_count; i++)
		sum += energy_sum(result->functions[i].self, result->channels);
	return sum;
}

struct energy_resolve_input energy_resolve_input_of(struct energy_analysis *analysis)
{
	return (struct energy_resolve_input){
		.power = &analysis->power,
		.events = &analysis->events,
		.clock = &analysis->clock,
		.hook = &analysis->hook,
		.result = &analysis->result,
		.occupations = analysis->machines.count ? &analysis->occupations : NULL,
		.state_count = analysis->machines.state_count,
		.noise = analysis->noise,
		.channel = analysis->power.channels == 1 ? 0 : ENERGY_CHANNELS};
}

static enum litifut_status attribute_again(struct energy_analysis *analysis, bool last,
					   struct litifut_error *error)
{
	void (*occurrence)(void *, const struct energy_occurrence *) = analysis->result.occurrence;
	void *context = analysis->result.context;

	energy_result_release(&analysis->result);
	analysis->result = (struct energy_result){
		.occupations = last && analysis->machines.count ? &analysis->occupations : NULL,
		.only_times = !last,
		.occurrence = last ? occurrence : NULL,
		.context = context};
	enum litifut_status status =
		energy_attribute(&analysis->result, &analysis->power, &analysis->events,
				 &analysis->clock, &analysis->hook, error);
	analysis->result.occurrence = occurrence;
	return status;
}

static enum litifut_status run_machines(struct energy_analysis *analysis,
					struct litifut_error *error)
{
	if (!analysis->machines.count)
		return LITIFUT_OK;
	return energy_machines_run(&analysis->machines, &analysis->events, &analysis->clock,
				   &analysis->hook, analysis->names, analysis->name_count,
				   &analysis->result, &analysis->occupations, error);
}

/* Levels that the files leave open are those of the regression. */
static void take_levels(struct energy_analysis *analysis)
{
	for (size_t i = 0; i < analysis->machines.state_count; i++) {
		const struct energy_machine *machine = energy_machine_of(&analysis->machines, i);
		double watts = machine->states[i - machine->first_state].watts;
		if (isnan(watts))
			watts = analysis->resolved.columns[analysis->resolved.first_state + i]
					.watts;
		for (size_t k = 0; k < analysis->occupations.count; k++) {
			struct energy_occupation *item = &analysis->occupations.items[k];
			if (item->state == i)
				item->watts = item->unseen ? 0 : watts;
		}
	}
}

/* An occupation whose level is not in the curve is not charged. */
static void check_seen(struct energy_analysis *analysis)
{
	const double interval = analysis->power.interval;

	for (size_t i = 0; i < analysis->occupations.count; i++) {
		struct energy_occupation *item = &analysis->occupations.items[i];
		double samples = fmax(1, (item->to - item->from) / interval);
		double noise = analysis->noise / sqrt(samples);
		/* a state of a sample or two shows no level */
		if (samples < 3 || isnan(item->observed))
			continue;
		item->unseen =
			fabs(item->observed - item->watts) > 5 * noise + 0.4 * fabs(item->watts);
		analysis->unseen += item->unseen;
	}
}

static enum litifut_status resolve(struct energy_analysis *analysis, struct litifut_error *error)
{
	struct energy_resolve_input input = energy_resolve_input_of(analysis);

	energy_resolved_release(&analysis->resolved);
	return energy_resolve(&analysis->resolved, &input, error);
}

/* What functions do by turns looks like noise, as long as it is not known what they are. With the
 * noise the levels change, as it decides about how far parts are held together. */
static enum litifut_status rest_noise(struct energy_analysis *analysis, struct litifut_error *error)
{
	struct energy_resolve_input input = energy_resolve_input_of(analysis);
	const size_t block = energy_noise_block(input.power->count);
	double *sums = malloc((input.power->count / block + 1) * sizeof(*sums));
	enum litifut_status status = LITIFUT_OK;

	if (!sums)
		return litifut_error_set(error, LITIFUT_ERROR_IO, NULL, NULL, LITIFUT_NO_ADDRESS,
					 "not enough memory for the noise");
	status = energy_rest_sums(&analysis->resolved, &input, block, sums, error);
	if (status == LITIFUT_OK) {
		double noise = energy_noise_of_sums(sums, input.power->count / block, block);
		if (noise > 0 && noise < analysis->noise)
			analysis->noise = input.noise = noise;
		status = energy_resolve_again(&analysis->resolved, &input, error);
	}
	free(sums);
	return status;
}

/* Parts of a level in each channel. What is there by chance is not a part. */
#define LEAST_SHARE 0.03

static void shares_of(const double *watts, unsigned channels, double *share)
{
	double sum = 0, kept = 0;

	for (unsigned k = 0; k < channels; k++)
		sum += fmax(0, watts[k]);
	for (unsigned k = 0; k < channels; k++)
		kept += watts[k] > LEAST_SHARE * sum ? watts[k] : 0;
	if (!(kept > 0))
		return;
	for (unsigned k = 0; k < channels; k++)
		share[k] = watts[k] > LEAST_SHARE * sum ? watts[k] / kept : 0;
}

/* Which of several supplies feed the processor and each state of a peripheral: a regression of each
 * says what they draw from it. */
static enum litifut_status find_supplies(struct energy_analysis *analysis,
					 struct litifut_error *error)
{
	const unsigned channels = analysis->power.channels;
	const size_t states = analysis->machines.state_count;
	double(*watts)[ENERGY_CHANNELS] = calloc(states + 1, sizeof(*watts));
	double hooks[ENERGY_CHANNELS] = {0};
	enum litifut_status status = LITIFUT_OK;

	if (!watts)
		return litifut_error_set(error, LITIFUT_ERROR_IO, NULL, NULL, LITIFUT_NO_ADDRESS,
					 "not enough memory for the supplies");
	for (unsigned k = 0; k < channels && status == LITIFUT_OK; k++) {
		struct energy_resolve_input input = energy_resolve_input_of(analysis);
		struct energy_resolved resolved = {0};
		input.channel = k;
		status = energy_resolve(&resolved, &input, error);
		if (status == LITIFUT_OK && energy_is_determined(&resolved)) {
			for (size_t i = 0; i < resolved.function_count; i++)
				hooks[k] +=
					resolved.functions[i].watts * resolved.functions[i].seconds;
			for (size_t i = 0; i < states; i++)
				watts[i][k] = resolved.columns[resolved.first_state + i].watts;
		}
		energy_resolved_release(&resolved);
	}
	shares_of(hooks, channels, analysis->hook.share);
	for (size_t i = 0; i < analysis->occupations.count; i++) {
		struct energy_occupation *item = &analysis->occupations.items[i];
		shares_of(watts[item->state], channels, item->share);
	}
	free(watts);
	return status;
}

static enum litifut_status find_levels(struct energy_analysis *analysis,
				       struct litifut_error *error)
{
	enum litifut_status status = resolve(analysis, error);

	if (status == LITIFUT_OK)
		status = rest_noise(analysis, error);
	if (status != LITIFUT_OK || !analysis->machines.count)
		return status;
	take_levels(analysis);
	struct energy_resolve_input input = energy_resolve_input_of(analysis);
	status = energy_observe(&analysis->resolved, &input, error);
	if (status != LITIFUT_OK)
		return status;
	check_seen(analysis);
	if (analysis->unseen)
		status = resolve(analysis, error);
	if (status == LITIFUT_OK)
		take_levels(analysis);
	return status;
}

/* Puts the regression's energy of a function in place of the integral's, on all of its paths. */
static void put_resolved(struct energy_analysis *analysis, const double *change)
{
	struct energy_result *result = &analysis->result;

	for (size_t i = 1; i < result->tree.count; i++) {
		struct energy_node *node = &result->tree.nodes[i];
		const struct energy_function *f = &result->functions[node->function];
		double hooks = energy_hook_seconds(&analysis->hook, &node->hooks);
		if (change[node->function] != 0)
			for (unsigned k = 0; k < result->channels; k++)
				node->joules[k] += analysis->hook.share[k] *
						   change[node->function] *
						   (node->seconds - hooks) / f->self_seconds;
	}
}

/* By how much the levels of functions differ when the clock is off by its standard error: the root
 * of the mean square of both sides, W. Of a long recording a part is enough. */
static enum litifut_status moved_levels(struct energy_analysis *analysis, double *moved,
					struct litifut_error *error)
{
	struct energy_resolve_input input = energy_resolve_input_of(analysis);
	const double shift = analysis->clock.shift;
	struct energy_resolved middle = {0};
	const struct energy_resolved *levels = &analysis->resolved;
	enum litifut_status status = LITIFUT_OK;

	if (input.power->count > REFINE_SAMPLES) {
		input.most_samples = REFINE_SAMPLES;
		status = energy_resolve(&middle, &input, error);
		levels = &middle;
	}
	for (int side = -1; side <= 1 && status == LITIFUT_OK; side += 2) {
		struct energy_resolved resolved;
		analysis->clock.shift = shift + side * analysis->clock.uncertainty;
		status = energy_resolve(&resolved, &input, error);
		for (size_t i = 0; status == LITIFUT_OK && i < resolved.function_count; i++)
			moved[i] = hypot(moved[i], (resolved.functions[i].watts -
						    levels->functions[i].watts) /
							   sqrt(2));
		energy_resolved_release(&resolved);
	}
	energy_resolved_release(&middle);
	analysis->clock.shift = shift;
	return status;
}

/* Plain integrals can't separate spans of few samples. */
static enum litifut_status choose_resolved(struct energy_analysis *analysis,
					   enum energy_choice choice, struct litifut_error *error)
{
	struct energy_result *result = &analysis->result;
	const size_t count = result->function_count;
	struct energy_function *before = calloc(count + 1, sizeof(*before));
	double *change = calloc(count + 1, sizeof(*change));
	double *moved = calloc(count + 1, sizeof(*moved));
	double *divided = calloc(count + 1, sizeof(*divided));
	enum litifut_status status = LITIFUT_OK;

	analysis->use_resolved = calloc(count + 1, sizeof(bool));
	if (!analysis->use_resolved || !before || !change || !moved || !divided) {
		free(before);
		free(change);
		free(moved);
		free(divided);
		return litifut_error_set(error, LITIFUT_ERROR_IO, NULL, NULL, LITIFUT_NO_ADDRESS,
					 "not enough memory for the functions");
	}
	if (!energy_is_determined(&analysis->resolved))
		choice = ENERGY_NO;
	const struct energy_resolve_input input = energy_resolve_input_of(analysis);
	if (choice != ENERGY_NO)
		status = moved_levels(analysis, moved, error);
	if (choice != ENERGY_NO && status == LITIFUT_OK)
		status = energy_divide(&analysis->resolved, &input, divided, error);
	for (uint32_t i = 0; i < count && choice != ENERGY_NO; i++) {
		struct energy_function *f = &result->functions[i];
		uint32_t column = analysis->resolved.column_of[i];
		const struct energy_level *level = &analysis->resolved.functions[i];
		double spans = (double)(f->calls + f->made);
		double length = spans > 0 ? f->self_seconds / spans : 0;
		bool sure = column != ENERGY_COLUMN_REST && level->watts > 0 &&
			    level->error < MOST_ERROR * level->watts && f->self_seconds > 0;
		if (!f->calls || !sure)
			continue;
		/* over the time that the events give it, of which no sample is lost */
		double seconds = fmax(0, f->self_seconds - f->unknown);
		if (choice == ENERGY_AUTO && length >= SHORT * analysis->power.interval) {
			if (isfinite(divided[i]))
				change[i] = divided[i] * seconds -
					    energy_sum(f->self, result->channels);
			continue;
		}
		analysis->use_resolved[i] = true;
		change[i] = level->watts * seconds - energy_sum(f->self, result->channels);
		double hooks = spans * analysis->hook.uncertainty * analysis->hook.watts;
		f->uncertainty = hypot(hypot(level->error, moved[i]) * seconds, hooks);
	}
	put_resolved(analysis, change);
	memcpy(before, result->functions, count * sizeof(*before));
	if (status == LITIFUT_OK)
		status = energy_sum_up(result, &analysis->hook, error);
	double parts = energy_sum(result->outside, result->channels) +
		       energy_sum(result->hooks, result->channels) +
		       energy_sum(result->transfer, result->channels) +
		       energy_sum(result->later, result->channels);
	for (uint32_t i = 0; i < count && status == LITIFUT_OK; i++) {
		/* the regression differs by so much from the integral of each call */
		double now = energy_sum(result->functions[i].inclusive, result->channels) /
			     energy_sum(before[i].inclusive, result->channels);
		double factor = now > 0 && isfinite(now) ? now : 1;
		result->functions[i].least = factor * before[i].least;
		result->functions[i].mean = factor * before[i].mean;
		result->functions[i].most = factor * before[i].most;
		result->functions[i].uncertainty = before[i].uncertainty;
		parts += energy_sum(result->functions[i].self, result->channels);
	}
	analysis->unexplained = energy_total(analysis) - parts;
	free(before);
	free(change);
	free(moved);
	free(divided);
	return status;
}

/* Where a state begins is known to a tick and to what the processor did between the switch and
 * the hook's reading of the clock. What was drawn there is its cause's or the state's. */
static void uncertain_starts(struct energy_analysis *analysis)
{
	const double length = 1 / analysis->events.hertz + analysis->hook.exit_before / 2;
	struct energy_result *result = &analysis->result;
	double *common = calloc(result->function_count + 1, sizeof(*common));

	for (size_t i = 0; i < analysis->occupations.count && common; i++) {
		const struct energy_occupation *item = &analysis->occupations.items[i];
		const struct energy_machine *machine =
			energy_machine_of(&analysis->machines, item->state);
		if (item->state != machine->first_state + 1 || item->cause >= result->tree.count ||
		    item->cause == ENERGY_ROOT)
			continue;
		const uint32_t number = result->tree.nodes[item->cause].function;
		common[number] += length * fabs(item->watts);
	}
	for (size_t i = 0; i < result->function_count && common; i++)
		result->functions[i].uncertainty =
			hypot(result->functions[i].uncertainty, common[i]);
	free(common);
}

/* What interrupts of the tracer's clock draw is known to this part. */
#define INTERRUPT_ERROR 0.1

/* What the tracer's clock has interrupted got longer by that, which is taken out. A function that
 * waits for a time did not: an interrupt stands in the place of instructions that draw another
 * power. Where it is not known which of the two, two standard errors more reach over all that was
 * taken out. */
static void uncertain_interrupts(struct energy_analysis *analysis)
{
	const struct energy_events *events = &analysis->events;
	const double each = analysis->hook.interrupt;

	for (uint32_t i = 0; events->overflow_period > 0 && i < analysis->result.function_count;
	     i++) {
		struct energy_function *f = &analysis->result.functions[i];
		const enum energy_waiting waiting = energy_events_waiting(events, i);
		const double taken = each * (double)f->hooks.interrupts;

		if (!(f->self_seconds > 0))
			continue;
		const double watts =
			energy_sum(f->self, analysis->result.channels) / f->self_seconds;
		if (waiting == ENERGY_MAY_WAIT)
			f->uncertainty += taken * watts / 2;
		else if (waiting == ENERGY_WAITS)
			f->uncertainty =
				hypot(f->uncertainty, INTERRUPT_ERROR * f->self_seconds * each /
							      events->overflow_period * watts);
	}
}

static double noise_of(const struct energy_power *power)
{
	double squares = 0;

	for (unsigned k = 0; k < power->channels; k++) {
		double noise = energy_noise(power->watts[k], power->count);
		squares += noise * noise;
	}
	return sqrt(squares);
}

enum litifut_status energy_analysis_run(struct energy_analysis *analysis,
					const struct energy_settings *settings,
					struct litifut_error *error)
{
	enum litifut_status status;

	if (settings->hook.known) {
		const double interrupt = analysis->hook.interrupt;

		analysis->hook = settings->hook;
		analysis->hook.interrupt = interrupt;
	}
	if (!analysis->hook.known)
		energy_calibration_find(&analysis->events, analysis->names, analysis->name_count,
					&analysis->hook);
	if (!analysis->hook.known)
		analysis->hook.share[0] = 1;
	analysis->noise = noise_of(&analysis->power);
	status = energy_waits_find(&analysis->events, analysis->hook.interrupt, error);
	if (status == LITIFUT_OK)
		status = attribute_again(analysis, false, error);
	if (status == LITIFUT_OK)
		status = run_machines(analysis, error);
	if (status == LITIFUT_OK && settings->refine) {
		struct energy_resolve_input input = energy_resolve_input_of(analysis);
		input.most_samples = REFINE_SAMPLES;
		input.states_stay = settings->states_stay;
		status = energy_refine_shift(&analysis->clock, &input, error);
		if (status == LITIFUT_OK && analysis->clock.shift != 0)
			status = attribute_again(analysis, false, error);
		if (status == LITIFUT_OK && analysis->clock.shift != 0)
			status = run_machines(analysis, error);
	}
	if (status == LITIFUT_OK)
		status = find_levels(analysis, error);
	if (status == LITIFUT_OK && analysis->power.channels > 1)
		status = find_supplies(analysis, error);
	if (status == LITIFUT_OK && analysis->hook.known && !(analysis->hook.watts > 0))
		analysis->hook.watts = energy_hook_power(&analysis->resolved);
	if (status == LITIFUT_OK)
		status = attribute_again(analysis, true, error);
	if (status != LITIFUT_OK)
		return status;
	energy_uncertainties(&analysis->result, &analysis->clock, &analysis->hook,
			     1 / analysis->events.hertz,
			     analysis->noise * analysis->noise * analysis->power.interval);
	status = choose_resolved(analysis, settings->resolve, error);
	uncertain_starts(analysis);
	uncertain_interrupts(analysis);
	/* No function uses less than nothing: where more was taken out than there was, it is wrong
	 * by as much at least. */
	for (size_t i = 0; i < analysis->result.function_count; i++) {
		struct energy_function *f = &analysis->result.functions[i];
		f->uncertainty =
			fmax(f->uncertainty, -energy_sum(f->self, analysis->result.channels));
	}
	return status;
}

void energy_analysis_release(struct energy_analysis *analysis)
{
	energy_power_release(&analysis->power);
	energy_events_release(&analysis->events);
	energy_clock_release(&analysis->clock);
	energy_result_release(&analysis->result);
	energy_machines_release(&analysis->machines);
	energy_resolved_release(&analysis->resolved);
	free(analysis->occupations.items);
	free(analysis->use_resolved);
	free(analysis->advice);
	*analysis = (struct energy_analysis){0};
}
