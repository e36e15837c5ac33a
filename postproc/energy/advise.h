/* Which functions to trace next: where the power changes inside of a function and nothing
 * traced explains that, its callees are worth their hooks; where it does not, they are not. */
#ifndef LITIFUT_POSTPROC_ENERGY_ADVISE_H
#define LITIFUT_POSTPROC_ENERGY_ADVISE_H

#include "postproc/energy/attribute.h"
#include "postproc/energy/changes.h"
#include "postproc/energy/machine.h"

struct energy_advice {
	uint64_t changes; /* within its self time, not at a border */
	double ambiguous; /* J: where the power is not the function's mean */
	double inside;    /* changes within its calls, those that they make included */
	double unequal;   /* J: where the power of these calls is not their mean */
	bool open;        /* trace the calls that it makes */
	bool close;       /* do not trace the calls to it */
	bool fold;        /* do not trace the calls that it makes: their power is all the same */
};

struct energy_advise_input {
	const struct energy_power *power;
	/* without what peripherals drew; as many samples as `power` has */
	const struct energy_samples *level;
	const struct energy_changes *changes; /* of `level` */
	const double *borders;                /* by time: when peripherals changed their state */
	size_t border_count;
	const struct energy_events *events;
	const struct energy_clock *clock;
	const struct energy_hook *hook;
	const struct energy_result *result;
	const struct energy_machines *machines;
	const char *const *names; /* of functions */
	double threshold;         /* changes a call from which a function is opened */
	double budget;            /* part of the time that hooks may take */
};

/* Fills `advice` (one for each function) and counts the changes at borders. */
enum litifut_status energy_advise(const struct energy_advise_input *input,
				  struct energy_advice *advice, size_t *explained,
				  struct litifut_error *error);

#endif
