/* What holds for every recording, whatever it was read from. */
#ifndef LITIFUT_TESTS_POWER_CHECK_H
#define LITIFUT_TESTS_POWER_CHECK_H

#include <math.h>
#include <stdlib.h>

#include "postproc/energy/power.h"

static void check_power(const uint8_t *data, size_t size, const char *name,
			const struct energy_power_options *options)
{
	struct energy_power power;
	struct litifut_error error = {0};
	char text[256];
	size_t count = 0;

	if (energy_power_read(&power, name, data, size, options, &error) == LITIFUT_OK) {
		if (!power.count && !power.change_count)
			abort();
		if (power.count && !(power.interval > 0))
			abort();
		for (size_t i = 0; i < power.run_count; i++) {
			const struct energy_run *run = &power.runs[i];
			if (run->first != count || !run->count || !isfinite(run->time))
				abort();
			if (i && run->time < power.runs[i - 1].time)
				abort();
			count += run->count;
		}
		if (count != power.count)
			abort();
		for (unsigned channel = 0; channel < power.channels; channel++) {
			for (size_t i = 0; i < power.count; i++) {
				if (!isfinite(power.watts[channel][i]))
					abort();
			}
		}
		energy_power_describe(&power, name, text, sizeof(text));
	} else if (!error.message[0]) {
		abort();
	}
	energy_power_release(&power);
}

#endif
