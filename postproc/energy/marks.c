/* The clock of the trace by that of the analyser: from the marks of the trace, and from a pin, from
 * a load in the curve, or from what the user says. */
#include "postproc/energy/analysis.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Rising edges of a pin; gives how many. `edges` has room for all changes. */
static size_t rising(const struct energy_power *power, unsigned pin, double *edges)
{
	size_t count = 0;

	for (size_t i = 1; i < power->change_count; i++) {
		bool now = power->changes[i].levels >> pin & 1;
		bool before = power->changes[i - 1].levels >> pin & 1;
		if (now && !before)
			edges[count++] = power->changes[i].time;
	}
	return count;
}

static enum litifut_status by_pin(struct energy_analysis *analysis, const char *sync,
				  const double *marks, size_t mark_count, double *edges,
				  struct litifut_error *error)
{
	const struct energy_power *power = &analysis->power;
	size_t count = 0;
	double step = power->interval;

	for (size_t i = 1; i < power->change_count; i++) {
		if (!(power->changes[i].uncertainty > 0))
			step = fmin(step, 1e-6); /* a logic analyser's file */
	}
	if (sync) {
		int pin = energy_power_pin(power, sync);
		if (pin < 0)
			return litifut_error_set(error, LITIFUT_ERROR_MISSING, analysis->power_path,
						 NULL, LITIFUT_NO_ADDRESS,
						 "it has no pin %s (--sync)", sync);
		count = rising(power, (unsigned)pin, edges);
	} else {
		for (unsigned pin = 0; pin < power->pins && !count; pin++)
			count = rising(power, pin, edges);
	}
	return energy_clock_fit(&analysis->clock, marks, mark_count, edges, count, step, error);
}

/* The marks have switched a load on and off. */
static enum litifut_status by_load(struct energy_analysis *analysis, const double *marks,
				   size_t mark_count, double *edges, struct litifut_error *error)
{
	size_t count = 0;
	enum litifut_status status = energy_load_find(&analysis->load, &analysis->power, marks,
						      mark_count, edges, &count, error);

	if (status == LITIFUT_OK)
		status = energy_clock_fit(&analysis->clock, marks, mark_count, edges, count,
					  analysis->load.step, error);
	if (status == LITIFUT_OK && 4 * analysis->clock.used < 3 * mark_count)
		status = litifut_error_set(
			error, LITIFUT_ERROR_FORMAT, NULL, NULL, LITIFUT_NO_ADDRESS,
			"the curve shows only %zu of %zu marks: a larger load, or "
			"--sync PIN",
			analysis->clock.used, mark_count);
	if (status == LITIFUT_OK)
		status = energy_load_take_out(&analysis->load, &analysis->power, &analysis->clock,
					      marks, mark_count, error);
	return status;
}

static bool is_mark(const struct energy_analysis *analysis, const char *function,
		    const struct energy_event *event)
{
	if (!function)
		return event->kind == ENERGY_EVENT_PIN;
	return (event->kind == ENERGY_EVENT_ENTER || event->kind == ENERGY_EVENT_TAIL) &&
	       event->function < analysis->name_count &&
	       !strcmp(analysis->names[event->function], function);
}

enum litifut_status energy_analysis_clock(struct energy_analysis *analysis,
					  const struct energy_settings *settings,
					  struct litifut_error *error)
{
	const struct energy_events *events = &analysis->events;
	size_t marks = 0;

	if (settings->at_count)
		return energy_clock_line(&analysis->clock, settings->at, settings->at_count, error);
	double *times = malloc((events->count + 1) * sizeof(*times));
	double *edges = malloc((analysis->power.change_count + events->count + 1) * sizeof(*edges));
	enum litifut_status status;
	if (!times || !edges) {
		status = litifut_error_set(error, LITIFUT_ERROR_IO, NULL, NULL, LITIFUT_NO_ADDRESS,
					   "not enough memory for the marks");
	} else {
		for (size_t i = 0; i < events->count; i++) {
			if (is_mark(analysis, settings->mark, &events->items[i]))
				times[marks++] =
					energy_events_seconds(events, events->items[i].time);
		}
		if (settings->mark && !marks)
			status = litifut_error_set(
				error, LITIFUT_ERROR_MISSING, NULL, NULL, LITIFUT_NO_ADDRESS,
				"the trace has no call of %s (--mark)", settings->mark);
		else if (settings->sync && !strcmp(settings->sync, "power") &&
			 energy_power_pin(&analysis->power, "power") < 0)
			status = by_load(analysis, times, marks, edges, error);
		else
			status = by_pin(analysis, settings->sync, times, marks, edges, error);
	}
	free(times);
	free(edges);
	return status;
}
