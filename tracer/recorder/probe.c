/* A thunk can't measure itself: the same instructions, which store their events nowhere, run some
 * hundred times, and the clock says how long it took. */

#include "tracer/recorder/probe.h"

#include <litifut/module_format.h>
#include <litifut/thunk_abi.h>
#include <litifut/trace_format.h>

#include "cpu.h"
#include "tracer/recorder/clock.h"
#include "tracer/recorder/shared.h"
#include "tracer/recorder/state.h"
#include "tracer/recorder/table_words.h"

#define LITIFUT_PROBE_EVENTS 128u
#define LITIFUT_PROBE_TIMES 4u /* the shortest is the one that nothing has interrupted */

uint32_t litifut_probe(const struct litifut_module *module)
{
	const bool page = litifut_recorder.clock == LITIFUT_CLOCK_PAGE;
	uint32_t least = UINT32_MAX;

	/* the long way to another clock takes more, which is not measured */
	if ((!page && litifut_recorder.clock != LITIFUT_CLOCK_CYCLE) ||
	    !LITIFUT_MODULE_HAS(module, clock) || litifut_recorder.clock != module->clock ||
	    module->engine != LITIFUT_ENGINE_THUNK || litifut_recorder.settings.raw)
		return 0;
	for (uint32_t i = 0; i < LITIFUT_PROBE_TIMES; i++) {
		/* such that it never comes to where a chunk would end */
		uint32_t cursor = LITIFUT_THUNK_STOP_BYTES / 4;
		uint32_t place[4];
		uint64_t from = litifut_clock_now();
		uint32_t took;

		if (!litifut_port_probe(&cursor, place, LITIFUT_PROBE_EVENTS, page,
					litifut_is_table()))
			return 0;
		took = (uint32_t)(litifut_clock_now() - from);
		if (took < least)
			least = took;
	}
	return least * (256 / LITIFUT_PROBE_EVENTS);
}

_Static_assert(LITIFUT_PROBE_EVENTS * 8 < LITIFUT_THUNK_STOP_BYTES / 4 * 3,
	       "the cursor stays inside");
