#include "postproc/energy/integral.h"

void energy_integral_start(struct energy_integral *integral, const struct energy_power *power)
{
	*integral = (struct energy_integral){power, energy_power_start(power), 0, 0};
}

/* Samples [from, to) of all channels, whole. */
static void add_samples(const struct energy_power *power, size_t from, size_t to, double *joules)
{
	for (unsigned channel = 0; channel < power->channels; channel++) {
		const float *watts = power->watts[channel];
		double sum = 0;
		for (size_t i = from; i < to; i++)
			sum += watts[i];
		joules[channel] += sum * power->interval;
	}
}

static void add_part(const struct energy_power *power, size_t sample, double seconds,
		     double *joules)
{
	for (unsigned channel = 0; channel < power->channels; channel++)
		joules[channel] += power->watts[channel][sample] * seconds;
}

/* Inside of one run, up to its end at most. */
static void advance(struct energy_integral *integral, const struct energy_run *run, double until,
		    double *joules)
{
	const struct energy_power *power = integral->power;
	const double interval = power->interval;
	double last = (until - run->time) / interval;
	size_t whole = last >= (double)run->count ? run->count : (size_t)last;

	if (whole > integral->index) {
		double border = run->time + (double)(integral->index + 1) * interval;
		add_part(power, run->first + integral->index, border - integral->time, joules);
		add_samples(power, run->first + integral->index + 1, run->first + whole, joules);
		integral->index = whole;
		integral->time = run->time + (double)whole * interval;
	}
	if (whole < run->count && until > integral->time) {
		add_part(power, run->first + whole, until - integral->time, joules);
		integral->time = until;
	}
}

double energy_integral_to(struct energy_integral *integral, double until, double *joules)
{
	const struct energy_power *power = integral->power;
	double unknown = 0;

	while (integral->time < until && integral->run < power->run_count) {
		const struct energy_run *run = &power->runs[integral->run];
		if (integral->time < run->time) {
			double stop = until < run->time ? until : run->time;
			unknown += stop - integral->time;
			integral->time = stop;
			continue;
		}
		double end = run->time + (double)run->count * power->interval;
		advance(integral, run, until < end ? until : end, joules);
		if (until < end)
			break;
		integral->run++;
		integral->index = 0;
		if (integral->time < end)
			integral->time = end;
	}
	if (integral->time < until) {
		unknown += integral->run >= power->run_count ? until - integral->time : 0;
		integral->time = until;
	}
	return unknown;
}
