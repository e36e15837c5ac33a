/* Samples as a file has them into a recording at one rate. Where a file gives a time with
 * each sample, the rate is fitted to all of them: exporters round their times, so that the
 * difference of two says little. */
#include "postproc/energy/reader.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/memory.h"

/* More of what can be had only in damaged files. */
#define MOST_CHANGES (64u << 20)
#define MOST_BINS (1u << 31)
/* With times that are not equidistant, so many usual distances without a value are a hole. */
#define LONGEST_HOLD 100.0
/* Samples after which the clock is corrected; even. */
#define BLOCK 4096
/* From so many samples on, the two ends of rounded times say more than the halves of blocks. */
#define SURE 200000

enum litifut_status energy_builder_fail(struct energy_builder *builder, enum litifut_status status,
					const char *format, ...)
{
	char text[256];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	if (builder->status == LITIFUT_OK)
		builder->status = litifut_error_set(builder->error, status, builder->path, NULL,
						    LITIFUT_NO_ADDRESS, "%s", text);
	return builder->status;
}

double energy_builder_volts(struct energy_builder *builder,
			    const struct energy_power_options *options, unsigned channel)
{
	const double volts = options->volts[1] > 0 ? options->volts[channel] : options->volts[0];

	if (!(volts > 0)) {
		if (channel)
			energy_builder_fail(builder, LITIFUT_ERROR_MISSING,
					    "it has a current and no voltage in %u channels or "
					    "more: give the supply of each with --volts V1,V2",
					    channel + 1);
		else
			energy_builder_fail(builder, LITIFUT_ERROR_MISSING,
					    "it has a current and no voltage: give the supply's "
					    "with --volts");
		return 0;
	}
	builder->power->volts[channel] = volts;
	builder->power->assumed_volts = true;
	return volts;
}

static bool no_memory(struct energy_builder *builder)
{
	energy_builder_fail(builder, LITIFUT_ERROR_IO, "not enough memory for its samples");
	return false;
}

bool energy_builder_reserve(struct energy_builder *builder, size_t count)
{
	struct energy_power *power = builder->power;

	if (count <= builder->capacity - power->count)
		return true;
	if (count > SIZE_MAX / 8 - power->count)
		return no_memory(builder);
	size_t wanted = power->count + count;
	if (wanted < builder->capacity + builder->capacity / 2)
		wanted = builder->capacity + builder->capacity / 2;
	if (wanted < 4096)
		wanted = 4096;
	for (unsigned channel = 0; channel < power->channels; channel++) {
		float *more = litifut_memory_resized(power->watts[channel], wanted, sizeof(*more));
		if (!more)
			return no_memory(builder);
		power->watts[channel] = more;
	}
	builder->capacity = wanted;
	return true;
}

static void start_block(struct energy_builder *builder)
{
	builder->block_count = 0;
	builder->late[0] = builder->late[1] = 0;
}

static bool start_run(struct energy_builder *builder, double time)
{
	struct energy_power *power = builder->power;

	if (!isfinite(time)) {
		energy_builder_fail(builder, LITIFUT_ERROR_FORMAT, "a time is not a number");
		return false;
	}
	/* A run that has got no sample is not one. */
	if (power->run_count && power->runs[power->run_count - 1].first == power->count)
		power->run_count--;
	if (power->run_count == builder->run_capacity) {
		size_t wanted = builder->run_capacity ? 2 * builder->run_capacity : 16;
		struct energy_run *more =
			litifut_memory_resized(power->runs, wanted, sizeof(*more));
		if (!more)
			return no_memory(builder);
		power->runs = more;
		builder->run_capacity = wanted;
	}
	power->runs[power->run_count++] = (struct energy_run){time, power->count, 0};
	builder->expected = time;
	start_block(builder);
	return true;
}

static void end_run(struct energy_builder *builder)
{
	struct energy_power *power = builder->power;

	if (power->run_count) {
		struct energy_run *run = &power->runs[power->run_count - 1];
		run->count = power->count - run->first;
	}
}

void energy_builder_uniform(struct energy_builder *builder, unsigned channels, double start,
			    double interval)
{
	builder->power->channels = channels;
	builder->power->interval = interval;
	builder->uniform = true;
	if (!(interval > 0) || !isfinite(interval))
		energy_builder_fail(builder, LITIFUT_ERROR_FORMAT,
				    "its rate is not a number above zero");
	else
		start_run(builder, start);
}

static int by_value(const void *left, const void *right)
{
	double a = *(const double *)left, b = *(const double *)right;

	return (a > b) - (a < b);
}

/* Does a line go through all times within one step of the column? */
static bool on_a_line(const double *times, size_t count, double step, double *interval)
{
	double mean_index = (double)(count - 1) / 2, mean = 0, products = 0, squares = 0;
	double least = 0, most = 0;

	for (size_t i = 0; i < count; i++)
		mean += (times[i] - times[0]) / (double)count;
	for (size_t i = 0; i < count; i++) {
		double index = (double)i - mean_index;
		products += index * (times[i] - times[0] - mean);
		squares += index * index;
	}
	*interval = squares > 0 ? products / squares : 0;
	for (size_t i = 0; i < count; i++) {
		double rest = times[i] - times[0] - mean - *interval * ((double)i - mean_index);
		least = fmin(least, rest);
		most = fmax(most, rest);
	}
	return most - least <= 1.1 * step;
}

/* From here on times count from the builder's origin. */
static enum litifut_status find_rate(struct energy_builder *builder, unsigned channels,
				     const double *times, size_t count)
{
	struct energy_power *power = builder->power;
	double *steps = malloc((count ? count : 1) * sizeof(*steps));
	size_t step_count = 0, odd = 0, longer = 0;

	power->channels = channels;
	if (!steps) {
		no_memory(builder);
		return builder->status;
	}
	for (size_t i = 1; i < count; i++) {
		double step = times[i] - times[i - 1];
		if (step > 0)
			steps[step_count++] = step;
	}
	if (!step_count) {
		free(steps);
		if (builder->power->interval > 0 && count)
			return start_run(builder, times[0]) ? LITIFUT_OK : builder->status;
		return energy_builder_fail(builder, LITIFUT_ERROR_FORMAT,
					   "its times do not increase: the rate is not known "
					   "(--rate)");
	}
	qsort(steps, step_count, sizeof(*steps), by_value);
	double median = steps[step_count / 2], least = steps[0], interval;
	/* Steps of 0 and q, or of q and 2q: the column is coarser than the rate. */
	bool rounded = step_count + 1 < count;
	for (size_t i = 0; i < step_count; i++) {
		double whole = steps[i] / median;
		if (fabs(whole - round(whole)) > 0.1 || whole < 0.5)
			odd++;
		if (whole > 1.5)
			longer++;
	}
	free(steps);
	bool line = on_a_line(times, count, rounded ? median : least, &interval);
	if (line && (rounded || longer > 3) && interval > 0) {
		builder->quantum = rounded ? median : least;
		power->interval = interval;
	} else if (rounded && odd * 20 <= step_count) {
		/* Rounded, with holes: the rate is that of the most of the column's steps. */
		size_t equal = 0, most = 1;
		for (size_t i = 1; i < count; i++) {
			equal = times[i] > times[i - 1] ? 1 : equal + 1;
			most = equal > most ? equal : most;
		}
		builder->quantum = median;
		power->interval = median / (double)most;
	} else if (odd * 20 > step_count && !line) {
		power->rebinned = true;
		power->interval = median;
		builder->longest = LONGEST_HOLD * median;
		builder->bin_start = times[0];
	} else {
		power->interval = line && interval > 0 && !longer ? interval : median;
	}
	builder->last_time = times[0];
	return start_run(builder, times[0]) ? LITIFUT_OK : builder->status;
}

/* Times since 1970 have steps of 0.2 us as they are. */
#define LARGE_TIME 1e5

enum litifut_status energy_builder_timed(struct energy_builder *builder, unsigned channels,
					 const double *times, size_t count)
{
	double *rest = count ? malloc(count * sizeof(*rest)) : NULL;

	if (count && !rest) {
		no_memory(builder);
		return builder->status;
	}
	builder->origin = count && fabs(times[0]) > LARGE_TIME ? times[0] : 0;
	for (size_t i = 0; i < count; i++)
		rest[i] = times[i] - builder->origin;
	enum litifut_status status = find_rate(builder, channels, rest, count);
	free(rest);
	return status;
}

static inline bool store(struct energy_builder *builder, const float *watts)
{
	struct energy_power *power = builder->power;

	const size_t count = power->count;
	const unsigned channels = power->channels;

	if (count == builder->capacity && !energy_builder_reserve(builder, 1))
		return false;
	for (unsigned channel = 0; channel < channels; channel++)
		power->watts[channel][count] = watts[channel];
	power->count = count + 1;
	builder->expected += power->interval;
	return true;
}

/* Follows the clock of the times: the mean lateness of half a block against that of the other
 * half, so that rounded times cancel out. */
static void follow(struct energy_builder *builder, double late)
{
	builder->late[builder->block_count >= BLOCK / 2] += late;
	if (++builder->block_count < BLOCK)
		return;
	double before = builder->late[0] / (BLOCK / 2), after = builder->late[1] / (BLOCK / 2);
	double slope = (after - before) / (BLOCK / 2);
	builder->power->interval += slope / 2;
	builder->expected += after + slope * (BLOCK / 4);
	start_block(builder);
}

static void close_fit(struct energy_builder *builder)
{
	struct energy_power *power = builder->power;
	struct energy_run *run = &power->runs[power->run_count - 1];

	if (power->count > run->first + 1) {
		builder->fit_time += builder->last_time - run->time;
		builder->fit_count += (double)(power->count - run->first - 1);
	}
}

/* Samples of any length into bins. A value holds until the next one. */
static bool rebin(struct energy_builder *builder, double time, const float *watts)
{
	struct energy_power *power = builder->power;
	double from = builder->last_time;

	if (time < from) {
		energy_builder_fail(builder, LITIFUT_ERROR_FORMAT,
				    "time goes back from %.9g s to %.9g s", from, time);
		return false;
	}
	if (time - from > builder->longest) {
		power->missing += (uint64_t)fmin(9e18, (time - from) / power->interval);
		end_run(builder);
		builder->bin_start = time;
		memset(builder->bin_energy, 0, sizeof(builder->bin_energy));
		if (!start_run(builder, time))
			return false;
	}
	while (from < time && builder->last_time != time) {
		double bin_end = builder->bin_start + power->interval;
		double until = time < bin_end ? time : bin_end;
		if (until <= from && until < bin_end)
			break;
		for (unsigned channel = 0; channel < power->channels; channel++)
			builder->bin_energy[channel] += (until - from) * builder->held[channel];
		from = until;
		if (until < bin_end)
			break;
		float means[ENERGY_CHANNELS];
		for (unsigned channel = 0; channel < power->channels; channel++) {
			means[channel] = (float)(builder->bin_energy[channel] / power->interval);
			builder->bin_energy[channel] = 0;
		}
		if (power->count >= MOST_BINS || bin_end <= builder->bin_start) {
			energy_builder_fail(builder, LITIFUT_ERROR_FORMAT,
					    "its times are spread too widely");
			return false;
		}
		builder->bin_start = bin_end;
		if (!store(builder, means))
			return false;
	}
	builder->last_time = time;
	memcpy(builder->held, watts, power->channels * sizeof(*watts));
	return true;
}

bool energy_builder_jump(struct energy_builder *builder, double time)
{
	struct energy_power *power = builder->power;

	if (time < builder->expected - power->interval) {
		energy_builder_fail(builder, LITIFUT_ERROR_FORMAT,
				    "time goes back from %.9g s to %.9g s", builder->expected,
				    time);
		return false;
	}
	end_run(builder);
	power->missing +=
		(uint64_t)fmin(9e18, fmax(0, round((time - builder->expected) / power->interval)));
	return start_run(builder, time);
}

bool energy_builder_hole(struct energy_builder *builder, uint64_t samples)
{
	return energy_builder_jump(builder,
				   builder->expected + (double)samples * builder->power->interval);
}

bool energy_builder_sample(struct energy_builder *builder, double time, const float *watts)
{
	struct energy_power *power = builder->power;

	if (builder->status != LITIFUT_OK)
		return false;
	if (!builder->uniform) {
		time -= builder->origin;
		if (power->rebinned)
			return rebin(builder, time, watts);
		double late = time - builder->expected;
		double tolerance = builder->quantum * 1.05 + 0.5 * power->interval;
		if (!(fabs(late) <= tolerance)) { /* nor NaN */
			if (!(time >= builder->last_time)) {
				energy_builder_fail(builder, LITIFUT_ERROR_FORMAT,
						    "time goes back to %.9g s", time);
				return false;
			}
			close_fit(builder);
			/* early: the rate was taken for less than it is; nothing is missing */
			double missing = late > 0 ? fmax(1, round(late / power->interval)) : 0;
			if (!(missing < 9e18)) {
				energy_builder_fail(builder, LITIFUT_ERROR_FORMAT,
						    "a time is out of every range");
				return false;
			}
			end_run(builder);
			power->missing += (uint64_t)missing;
			/* A step of the column can stand for more than one sample. */
			if (!start_run(builder,
				       builder->quantum > power->interval || missing == 0
					       ? time
					       : builder->expected + missing * power->interval))
				return false;
			if (fabs(builder->expected - time) > tolerance)
				builder->expected = time;
		} else {
			follow(builder, late);
		}
		builder->last_time = time;
	}
	return store(builder, watts);
}

bool energy_builder_pins(struct energy_builder *builder, double time, double uncertainty,
			 uint16_t levels)
{
	struct energy_power *power = builder->power;

	if (builder->levels_known && levels == builder->levels)
		return true;
	if (power->change_count == builder->change_capacity) {
		size_t wanted = builder->change_capacity ? 2 * builder->change_capacity : 64;
		struct energy_pins_change *more = NULL;
		if (wanted <= MOST_CHANGES)
			more = litifut_memory_resized(power->changes, wanted, sizeof(*more));
		if (!more) {
			energy_builder_fail(builder, LITIFUT_ERROR_FORMAT,
					    "its pins change more than %u times", MOST_CHANGES);
			return false;
		}
		power->changes = more;
		builder->change_capacity = wanted;
	}
	power->changes[power->change_count++] =
		(struct energy_pins_change){time, (float)uncertainty, levels};
	builder->levels = levels;
	builder->levels_known = true;
	return true;
}

bool energy_builder_levels(struct energy_builder *builder, uint16_t levels, uint16_t both)
{
	if (both) /* it was the other one for a moment */
		levels = (uint16_t)((levels & ~both) | (~builder->levels & both));
	if (builder->levels_known && levels == builder->levels)
		return builder->status == LITIFUT_OK;
	/* It changed between the middles of the two samples' windows, on average at the
	 * border of the two; a level is what the sample's window has at its end. */
	double half = builder->power->interval / 2;
	double time = builder->expected;
	if (!builder->levels_known)
		return energy_builder_pins(builder, time + builder->origin, 0, levels);
	return energy_builder_pins(builder, time - half + builder->origin, half, levels);
}

enum litifut_status energy_builder_finish(struct energy_builder *builder)
{
	struct energy_power *power = builder->power;

	if (builder->status != LITIFUT_OK)
		return builder->status;
	end_run(builder);
	if (power->run_count && !power->runs[power->run_count - 1].count)
		power->run_count--;
	if (!power->count && !power->change_count)
		return energy_builder_fail(builder, LITIFUT_ERROR_MISSING, "it has no samples");
	if (!builder->uniform && !power->rebinned && power->run_count) {
		close_fit(builder);
		if (builder->fit_count >= (builder->quantum > 0 ? SURE : 2))
			power->interval = builder->fit_time / builder->fit_count;
	}
	for (size_t i = 0; i < power->run_count; i++)
		power->runs[i].time += builder->origin;
	for (size_t i = 0; i < power->run_count; i++) {
		/* A run must not reach into the next one. */
		if (i + 1 < power->run_count &&
		    power->runs[i + 1].time <
			    power->runs[i].time + (double)power->runs[i].count * power->interval)
			power->runs[i + 1].time = power->runs[i].time +
						  (double)power->runs[i].count * power->interval;
	}
	return LITIFUT_OK;
}
