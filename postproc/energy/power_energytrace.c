/* What TI's EnergyTrace writes: numbers between blanks, microseconds, nanoamperes, millivolts
 * and the nanojoules so far; with the processor's state in front of them in ++ mode. The
 * energy so far has lost nothing between two lines, so that its differences are used, not the
 * currents. It begins again after 2^32 nJ. */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "postproc/energy/reader.h"

#define TIMES 4096
#define WRAP 4294967296.0
#define MOST_WATTS 1e12f /* more is a damaged file */

struct reading {
	double time, nanojoules;
};

/* The next line with four numbers, behind a state or not. */
static bool next_reading(const char **at, const char *end, struct reading *reading)
{
	while (*at < end) {
		const char *stop = memchr(*at, '\n', (size_t)(end - *at));
		size_t length = (size_t)((stop ? stop : end) - *at);
		char line[256], *rest = line, *next;
		double values[5];
		int count = 0;

		if (length >= sizeof(line))
			length = sizeof(line) - 1;
		memcpy(line, *at, length);
		line[length] = '\0';
		*at = stop ? stop + 1 : end;
		/* a state is a word of letters or hex digits in front of the time */
		const char *blank = line + strspn(line, " \t");
		size_t first = strcspn(blank, " \t\r");
		if (!strncmp(blank, "0x", 2) || strspn(blank, "0123456789.") != first)
			rest = line + (blank - line) + first;
		while (count < 5) {
			values[count] = strtod(rest, &next);
			if (next == rest)
				break;
			rest = next;
			count++;
		}
		rest += strspn(rest, " \t\r");
		if (count == 4 && !*rest && isfinite(values[0]) && isfinite(values[3])) {
			*reading = (struct reading){values[0] * 1e-6, values[3]};
			return true;
		}
	}
	return false;
}

/* Four columns between blanks, and a time that does not go back. */
static bool probe(const struct energy_input *input)
{
	const char *at = (const char *)input->bytes, *end = at + input->size;
	const char *start = at;
	struct reading reading;
	size_t look = input->size < 4096 ? input->size : 4096;
	double last = -1, energy = -1;

	for (size_t i = 0; i < look; i++) {
		if (input->bytes[i] < 9 || strchr(",;", input->bytes[i]))
			return false;
	}
	if (memmem(start, look, "EnergyTrace", 11))
		return true;
	for (int i = 0; i < 8 && next_reading(&at, end, &reading); i++) {
		if (reading.time < last || reading.nanojoules < energy)
			return false;
		last = reading.time;
		energy = reading.nanojoules;
	}
	return last > 0 && !input->options->columns;
}

static enum litifut_status read_energytrace(const struct energy_input *input,
					    struct energy_builder *builder)
{
	const char *start = (const char *)input->bytes, *end = start + input->size, *at = start;
	struct reading last = {0}, reading;
	double *times = malloc(TIMES * sizeof(*times)), wraps = 0;
	size_t count = 0;
	bool first = true;

	if (!times)
		return energy_builder_fail(builder, LITIFUT_ERROR_IO, "not enough memory");
	while (count < TIMES && next_reading(&at, end, &reading))
		times[count++] = reading.time;
	snprintf(builder->power->units, sizeof(builder->power->units), "energy in nJ");
	if (count < 2)
		energy_builder_fail(builder, LITIFUT_ERROR_MISSING, "it has no samples");
	else
		energy_builder_timed(builder, 1, times, count);
	free(times);
	at = start;
	while (builder->status == LITIFUT_OK && next_reading(&at, end, &reading)) {
		if (!first && reading.nanojoules + wraps < last.nanojoules)
			wraps += WRAP;
		reading.nanojoules += wraps;
		double length = reading.time - last.time;
		if (!first && length > 0) {
			float watts =
				(float)((reading.nanojoules - last.nanojoules) * 1e-9 / length);
			if (fabsf(watts) < MOST_WATTS)
				energy_builder_sample(builder, last.time, &watts);
			else
				builder->power->bad++;
		} else if (!first && length < 0) {
			energy_builder_fail(builder, LITIFUT_ERROR_FORMAT,
					    "time goes back to %.6f s", reading.time);
		}
		if (first || length > 0)
			last = reading;
		first = false;
	}
	return builder->status;
}

const struct energy_reader energy_reader_energytrace = {"TI EnergyTrace", probe, read_energytrace};
