/* What a hook costs, from a trace in which the loops of <litifut/calibrate.h> are. */
#ifndef LITIFUT_POSTPROC_ENERGY_CALIBRATION_H
#define LITIFUT_POSTPROC_ENERGY_CALIBRATION_H

#include "postproc/energy/attribute.h"
#include "postproc/energy/events.h"

/* False: they are not there as a whole, and nothing was done. */
bool energy_calibration_find(const struct energy_events *events, const char *const *names,
			     size_t name_count, struct energy_hook *hook);

#endif
