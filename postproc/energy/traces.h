/* Events out of LITIFUT's own traces, through the timeline of the post-processor. */
#ifndef LITIFUT_POSTPROC_ENERGY_TRACES_H
#define LITIFUT_POSTPROC_ENERGY_TRACES_H

#include "postproc/energy/attribute.h"
#include "postproc/energy/events.h"
#include "postproc/formats/run.h"

/* Reads the traces of a session whose inputs are set. Times become nanoseconds. The names of
 * functions are those of the session, by the same numbers. `hook` is filled in if the trace tells
 * what the tracer takes for a call. The events go into `page` as well, unless it is NULL. `totals`
 * is filled in. */
void energy_traces_read(struct post_session *session, struct energy_events *events,
			struct energy_hook *hook, struct post_run *page,
			struct post_totals *totals);

#endif
