/* Whether a trace and a recording are of the same time. */
#ifndef LITIFUT_POSTPROC_ENERGY_OVERLAP_H
#define LITIFUT_POSTPROC_ENERGY_OVERLAP_H

#include "postproc/energy/clock.h"
#include "postproc/energy/events.h"
#include "postproc/energy/power.h"

struct energy_overlap {
	double from, to; /* the trace, in the analyser's seconds */
	double before;   /* seconds of the trace before the recording begins, */
	double after;    /* and after it has ended */
	double share;    /* of the shorter one of both that lies within the other, 0 to 1 */
};

/* `power` has samples, `events` were finished. */
void energy_overlap(const struct energy_power *power, const struct energy_events *events,
		    const struct energy_clock *clock, struct energy_overlap *overlap);

#endif
