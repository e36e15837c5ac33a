#include "postproc/energy/overlap.h"

#include <math.h>

void energy_overlap(const struct energy_power *power, const struct energy_events *events,
		    const struct energy_clock *clock, struct energy_overlap *overlap)
{
	const double start = energy_power_start(power), end = energy_power_end(power);
	size_t hint = 0;

	overlap->from = energy_clock_map(clock, 0, &hint);
	overlap->to = energy_clock_map(clock, energy_events_length(events), &hint);
	overlap->before = fmax(0, fmin(start, overlap->to) - overlap->from);
	overlap->after = fmax(0, overlap->to - fmax(end, overlap->from));
	double common = fmin(end, overlap->to) - fmax(start, overlap->from);
	double shorter = fmin(end - start, overlap->to - overlap->from);
	overlap->share = common < 0 ? 0 : shorter > 0 ? common / shorter : 1;
}
