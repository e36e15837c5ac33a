/* The curve of all channels together, without what peripherals drew: the level in which changes
 * are looked for. */
#ifndef LITIFUT_POSTPROC_ENERGY_LEVEL_H
#define LITIFUT_POSTPROC_ENERGY_LEVEL_H

#include "postproc/energy/occupation.h"
#include "postproc/energy/samples.h"

#define ENERGY_LEVEL_SAMPLES 4096

struct energy_level_maker {
	const struct energy_power *power;
	struct energy_active active;
	size_t run;
	size_t first, count; /* those that were made last, which lie in that run */
	float values[ENERGY_LEVEL_SAMPLES];
};

/* `maker`, `power` and `occupations` live as long as the samples are used. */
struct energy_samples energy_level_samples(struct energy_level_maker *maker,
					   const struct energy_power *power,
					   const struct energy_occupations *occupations);

#endif
