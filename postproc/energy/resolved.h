/* What a regression is made of, and the levels that it has found. */
#ifndef LITIFUT_POSTPROC_ENERGY_RESOLVED_H
#define LITIFUT_POSTPROC_ENERGY_RESOLVED_H

#include "postproc/energy/attribute.h"
#include "postproc/energy/occupation.h"

/* A hook's power is not the same throughout: jumps at its ends draw something else than the stores
 * between them. With one column its level would be that of the stores, and what the jumps draw less
 * would be missing in the functions beside them. So each part in turn has a column. */
#define ENERGY_HOOK_PARTS 8
/* Where the clock is looked for, what a call draws must not be taken for what a return draws, nor
 * one instruction for another one: the errors would move the clock. So there calls and returns have
 * separate columns, and a hook has so many. With these the energies would be less certain. */
#define ENERGY_CLOCK_PARTS 16

enum energy_column_kind {
	ENERGY_COLUMN_OUTSIDE,
	ENERGY_COLUMN_TRANSFER,
	ENERGY_COLUMN_REST,  /* functions for which there is no column */
	ENERGY_COLUMN_HOOK,  /* the level that the parts of hooks are held to */
	ENERGY_COLUMN_HOOKS, /* the first part of a hook */
	ENERGY_COLUMN_EXITS = ENERGY_COLUMN_HOOKS + ENERGY_CLOCK_PARTS, /* for the clock */
	ENERGY_COLUMN_FIRST = ENERGY_COLUMN_EXITS + ENERGY_CLOCK_PARTS  /* functions, then states */
};

struct energy_level {
	double watts, error; /* of the channel; one standard error */
	double seconds;      /* that it had */
};

/* Sums over the samples, of which the levels follow. */
struct energy_rows {
	double *xx, *xy; /* X'X, X'y */
	double yy, y;
	/* Samples of these columns that are left out, as what they draw varies. */
	double left_out_sum[ENERGY_COLUMN_TRANSFER + 1];
	uint64_t left_out[ENERGY_COLUMN_TRANSFER + 1];
};

struct energy_resolved {
	struct energy_level *columns;
	size_t column_count;
	struct energy_level *functions; /* by function: the mean over its columns */
	uint32_t *column_of; /* by function: its column; ENERGY_COLUMN_REST: it shares that one */
	/* By function: columns of the begin of its spans, from the outside, and behind them those
	 * of the end; 0: none. */
	uint32_t *ends_of;
	unsigned end_parts; /* columns of each */
	size_t function_count;
	size_t first_state; /* column of state 0 */
	size_t state_count;
	/* With levels known `before`: the column of the clock's shift, in samples, and after it
	 * that of its drift, in samples by which the ends of the time looked at are off. 0: none */
	size_t shift;
	double residual; /* mean square of what is left, W^2 */
	double held; /* the same, and what it costs that levels differ from those they are held to
		      */
	uint64_t samples;
	size_t unknowns; /* columns that some sample has a part of */
	struct energy_rows rows;
};

struct energy_resolve_input {
	const struct energy_power *power;
	const struct energy_events *events;
	const struct energy_clock *clock;
	const struct energy_hook *hook;
	const struct energy_result *result;     /* of energy_attribute(): nodes and functions */
	struct energy_occupations *occupations; /* NULL: none */
	size_t state_count;
	double noise;        /* W, as energy_noise() gives it */
	unsigned channel;    /* of the recording; ENERGY_CHANNELS: the sum of all */
	size_t most_samples; /* 0: all; else the first ones are enough */
	bool for_clock;      /* ENERGY_CLOCK_PARTS columns for a hook, and more for short spans */
	/* Without samples near to where a peripheral's state changes: that is some instructions
	 * before the function that switches it ends. */
	bool only_sure;
	/* Levels of the same columns, from a clock that is nearly right. By how much the samples
	 * change when the clock is moved follows from them, and is regressed as well. */
	const struct energy_resolved *before;
	bool states_stay; /* they were found in the curve, and do not move with the clock */
};

/* With no more samples than unknowns the levels are any of many that explain all, and their errors
 * are not: nothing may be taken from them. */
static inline bool energy_is_determined(const struct energy_resolved *resolved)
{
	return resolved->samples > resolved->unknowns;
}

/* The mean power of hooks; 0: there are none. */
double energy_hook_power(const struct energy_resolved *resolved);

void energy_resolved_release(struct energy_resolved *resolved);

#endif
