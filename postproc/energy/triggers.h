/* The returns from chosen functions, and the samples behind each until something else happens. */
#ifndef LITIFUT_POSTPROC_ENERGY_TRIGGERS_H
#define LITIFUT_POSTPROC_ENERGY_TRIGGERS_H

#include "postproc/energy/analysis.h"

/* Farther from the call nothing is looked for, seconds. */
#define ENERGY_TRIGGER_LONGEST 0.1

struct energy_trigger {
	double time, end; /* of its window: the next one begins, or the recorder sends its data */
	uint32_t function;
	double level; /* at the end of its window; NAN: not known */
	int before;   /* number of the level before it; -1: not known */
};

struct energy_triggers {
	const struct energy_tree *tree; /* while they are looked for */
	const bool *wanted;             /* by function */
	struct energy_trigger *items;
	size_t count, capacity;
	bool failed;
};

/* The samples from a time on that lie in one run, and where in the first one the time is. */
struct energy_stretch {
	const float *at;
	size_t count;
	double part;
};

/* `wanted` is set before. The items are by time. */
enum litifut_status energy_triggers_find(struct energy_triggers *triggers,
					 const struct energy_analysis *analysis,
					 struct litifut_error *error);

/* Of `rest`, as many samples as `power` has; no sample: the window is too short. */
struct energy_stretch energy_trigger_samples(const struct energy_power *power, const float *rest,
					     const struct energy_trigger *trigger);

#endif
