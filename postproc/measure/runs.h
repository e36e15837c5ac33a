/* How often each function was called and how long it took, apart for each run, so that runs can be
 * compared: a run is a process that no other process of the session has started, with all that
 * it has started. */
#ifndef LITIFUT_POSTPROC_MEASURE_RUNS_H
#define LITIFUT_POSTPROC_MEASURE_RUNS_H

#include "postproc/model/session.h"
#include "postproc/timeline/event.h"

struct post_run_cell {
	uint32_t run, function;
	uint64_t calls;
	uint64_t timed; /* calls whose return is known; the next two are of them */
	double self;    /* ns, or ticks where their length is not known */
	double squares; /* of the self time of each call; 0 in tables, which hold sums */
};

struct post_runs {
	uint32_t count;
	uint32_t *run_of; /* by process */
	struct post_run_cell *cells;
	size_t cell_count, capacity;
	struct post_table index;
	bool timed; /* some call is */
};

/* `runs` is overwritten. Takes in at once what was counted in tables. */
void post_runs_start(struct post_runs *runs, struct post_session *session);

/* Takes an event of a nested timeline. */
void post_runs_take(struct post_runs *runs, const struct post_session *session,
		    const struct post_timeline_event *event);

/* One figure over all runs. */
struct post_spread {
	double mean, least, most;
	double deviation; /* standard deviation of one run; below 0: not known */
};

struct post_run_row {
	uint32_t function;
	uint32_t runs; /* that have called it */
	bool timed;    /* the times of some calls are known */
	/* That `self` is of: not those whose calls have no time, as without a clock. */
	uint32_t self_runs;
	struct post_spread calls, self;
};

/* The figures of a function over all runs; what a run does not have is 0. Of a single run the
 * deviation of `self` is that which its calls make likely. */
struct post_run_row post_runs_row(const struct post_runs *runs, uint32_t function);

/* Finds two programs among the processes that began the runs of a session, or of two sessions:
 * false, when all have the same name, or when half of their functions that were called have
 * the same names, as those of two builds have. `one` and `other` belong to the sessions. */
bool post_runs_of_programs(const struct post_session *session, const struct post_session *second,
			   const char **one, const char **other);

void post_runs_release(struct post_runs *runs);

#endif
