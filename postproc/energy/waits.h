/* Which functions wait for a time: an interrupt does not make a call of theirs longer, as it falls
 * into what they would have waited anyway. In all others it does, and its time is to be taken out.
 */
#ifndef LITIFUT_POSTPROC_ENERGY_WAITS_H
#define LITIFUT_POSTPROC_ENERGY_WAITS_H

#include "postproc/energy/events.h"

/* Fills `waits` of the events, which have been put into order. `interrupt`: seconds that one
 * interrupt of the tracer's clock takes. Does nothing where the clock does not interrupt. */
enum litifut_status energy_waits_find(struct energy_events *events, double interrupt,
				      struct litifut_error *error);

#endif
