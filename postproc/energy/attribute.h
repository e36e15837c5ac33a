/* Energy and time of functions, edges and paths: the integral of the power over the spans,
 * less what the tracer's hooks have used inside of them. */
#ifndef LITIFUT_POSTPROC_ENERGY_ATTRIBUTE_H
#define LITIFUT_POSTPROC_ENERGY_ATTRIBUTE_H

#include "postproc/energy/occupation.h"
#include "postproc/energy/walk.h"

/* What a hook costs. Times are in seconds, before and after its reading of the clock. */
struct energy_hook {
	double enter_before, enter_after, exit_before, exit_after;
	double watts;                  /* while it runs, of all channels */
	double share[ENERGY_CHANNELS]; /* of that in each: which of them feed the processor */
	double uncertainty; /* standard error of the time of one enter and exit together */
	double interrupt;   /* seconds of one interrupt of the tracer's clock */
	bool known;
};

/* The hook that takes so many seconds between its readings of the clock for a call, and so many
 * besides. Halves before and after the clock are not known apart, and only their sums count but
 * for functions that are resolved. */
static inline struct energy_hook energy_hook_of(double inside, double outside)
{
	return (struct energy_hook){
		.enter_before = outside / 2,
		.exit_after = outside / 2,
		.enter_after = inside / 2,
		.exit_before = inside / 2,
		.uncertainty = 0.01 * (inside + outside), /* to the last digit given, at best */
		.share = {1},
		.known = true,
	};
}

/* What comes before each reading of the clock is known as well: `before` seconds; 0: it is not. */
static inline void energy_hook_split(struct energy_hook *hook, double before)
{
	const double inside = hook->enter_after + hook->exit_before;
	const double outside = hook->enter_before + hook->exit_after;

	if (!(before > 0) || before > inside || before > outside)
		return;
	hook->enter_before = hook->exit_before = before;
	hook->enter_after = inside - before;
	hook->exit_after = outside - before;
}

static inline double energy_hook_seconds(const struct energy_hook *hook,
					 const struct energy_hook_counts *counts)
{
	return hook->enter_before * (double)counts->enter_before +
	       hook->enter_after * (double)counts->enter_after +
	       hook->exit_before * (double)counts->exit_before +
	       hook->exit_after * (double)counts->exit_after +
	       hook->interrupt * (double)counts->interrupts;
}

/* One call that has ended, or, with `open`, that had not. Hooks are taken out. */
struct energy_occurrence {
	uint32_t node;
	double start;                   /* analyser's seconds */
	double duration;                /* seconds, inclusive */
	double joules[ENERGY_CHANNELS]; /* inclusive */
	bool open;
};

struct energy_function {
	uint64_t calls;
	uint64_t made; /* traced calls that it has made */
	double self[ENERGY_CHANNELS], inclusive[ENERGY_CHANNELS]; /* joules without hooks */
	double self_seconds, inclusive_seconds;
	double unknown;      /* seconds of self without samples */
	double hook_seconds; /* that were taken out of self */
	/* Joules a call, inclusive, all channels, of calls that have ended; not finite: none has.
	 */
	double least, mean, most;
	double later;       /* joules that its calls caused beside their own time */
	double uncertainty; /* of self, all channels, one standard error */
	struct energy_hook_counts hooks;
};

struct energy_edge {
	uint32_t caller; /* ENERGY_NO_FUNCTION: nothing traced */
	uint32_t callee;
	uint64_t calls;
	double inclusive[ENERGY_CHANNELS];
	double seconds;
	double later;
};

struct energy_result {
	struct energy_tree tree;
	struct energy_walk_counts counts;
	unsigned channels;
	double begin, end;                /* analyser's seconds that were looked at */
	double total[ENERGY_CHANNELS];    /* joules of all samples there */
	double transfer[ENERGY_CHANNELS]; /* while the recorder sent its data */
	double transfer_seconds;
	double hooks[ENERGY_CHANNELS]; /* taken out of all spans */
	double hook_seconds;
	double outside[ENERGY_CHANNELS]; /* no traced call was open */
	double outside_seconds;
	double unknown;                    /* seconds without samples */
	struct energy_function *functions; /* by number */
	size_t function_count;
	struct energy_edge *edges;
	size_t edge_count;
	double later[ENERGY_CHANNELS]; /* of peripherals, charged to the calls that caused it */
	/* what peripherals drew, which is taken out of the spans; set before, may be NULL */
	const struct energy_occupations *occupations;
	bool only_times; /* energies are not needed; set before */
	/* called for each call when it ends; set before energy_attribute() */
	void (*occurrence)(void *context, const struct energy_occurrence *occurrence);
	void *context;
};

/* `result` holds its callback and zeros. To be released in every case. */
enum litifut_status energy_attribute(struct energy_result *result, const struct energy_power *power,
				     const struct energy_events *events,
				     const struct energy_clock *clock,
				     const struct energy_hook *hook, struct litifut_error *error);

/* Functions and edges once more from the tree, after it was changed. */
enum litifut_status energy_sum_up(struct energy_result *result, const struct energy_hook *hook,
				  struct litifut_error *error);

/* Standard errors of the functions: of the clock, of the noise (joules^2 a second), of the
 * hooks. `tick` is the step of the device's clock in seconds. */
void energy_uncertainties(struct energy_result *result, const struct energy_clock *clock,
			  const struct energy_hook *hook, double tick, double noise_density);

void energy_result_release(struct energy_result *result);

/* Seconds in which the program ran: all but those in which the recorder sent its data. */
static inline double energy_run_seconds(const struct energy_result *result)
{
	return result->end - result->begin - result->transfer_seconds;
}

static inline double energy_sum(const double *joules, unsigned channels)
{
	double sum = 0;

	for (unsigned i = 0; i < channels; i++)
		sum += joules[i];
	return sum;
}

#endif
