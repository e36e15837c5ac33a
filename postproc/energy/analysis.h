/* One power file and one trace, from end to end: the steps in their order. */
#ifndef LITIFUT_POSTPROC_ENERGY_ANALYSIS_H
#define LITIFUT_POSTPROC_ENERGY_ANALYSIS_H

#include "postproc/energy/advise.h"
#include "postproc/energy/changes.h"
#include "postproc/energy/load.h"
#include "postproc/energy/machine.h"
#include "postproc/energy/resolve.h"

enum energy_choice { ENERGY_AUTO, ENERGY_YES, ENERGY_NO };

struct energy_settings {
	struct energy_power_options power;
	const char *mark;          /* a function that raises the pin; NULL: the trace has marks */
	const char *sync;          /* pin; NULL: the first one that rises; "power": see load.h */
	struct energy_knot at[16]; /* pairs of device and analyser times, in place of a pin */
	size_t at_count;
	struct energy_hook hook;
	enum energy_choice resolve;
	bool refine;      /* look for the shift in the data */
	bool states_stay; /* machines were learned with the clock as it is without a shift */
	double penalty;   /* factor */
	double min_step;  /* W; 0: a hundredth of the range */
	bool pelt;
	double threshold; /* changes a call from which a function is opened */
	double budget;    /* part of the time that hooks may take */
	double from, to;  /* of a picture, analyser's seconds; to 0: the end */
};

struct energy_analysis {
	const char *power_path;
	struct energy_power power;
	struct energy_events events;
	struct energy_clock clock;
	struct energy_load load; /* of the marks; no pulses: they are on a pin */
	struct energy_hook hook;
	struct energy_result result;
	struct energy_machines machines;
	struct energy_occupations occupations;
	size_t unseen; /* occupations that the curve does not show */
	struct energy_resolved resolved;
	bool *use_resolved;           /* by function: its self energy is the regression's */
	double unexplained;           /* J: the measured total less all parts */
	double noise;                 /* W */
	struct energy_advice *advice; /* by function */
	size_t changes, explained;
	const char *const *names;   /* of functions */
	const char *const *symbols; /* as in the symbol table; NULL: as `names` */
	size_t name_count;
};

/* `analysis` has its power, events, names and machines. Finds the clock. */
enum litifut_status energy_analysis_clock(struct energy_analysis *analysis,
					  const struct energy_settings *settings,
					  struct litifut_error *error);

/* All the rest but for what is in unexplained.h. `result.occurrence` may be set before. */
enum litifut_status energy_analysis_run(struct energy_analysis *analysis,
					const struct energy_settings *settings,
					struct litifut_error *error);

/* What the samples are resolved from; it points into the analysis. */
struct energy_resolve_input energy_resolve_input_of(struct energy_analysis *analysis);

void energy_analysis_release(struct energy_analysis *analysis);

/* All of the energy that was measured, J. */
double energy_total(const struct energy_analysis *analysis);

/* What functions have used themselves and caused, J: without the tracer, and without what the
 * recording has before and after the trace, which may be longer than that. */
double energy_functions(const struct energy_analysis *analysis);

#endif
