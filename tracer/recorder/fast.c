/* Decides how much of the work of an event can be left out. */

#include "tracer/recorder/fast.h"

#include "tracer/recorder/bits.h"
#include "tracer/recorder/state.h"

static uint32_t litifut_fastest(uint32_t recording)
{
	const struct litifut_recorder *r = &litifut_recorder;

	if (r->phase != LITIFUT_PHASE_READY)
		return LITIFUT_FAST_NONE;
	if (litifut_is_bits()) /* whatever comes to the recorder is unusual */
		return LITIFUT_FAST_NONE;
	if (r->bloom || !r->settings.bulk_kb)
		return recording ? LITIFUT_FAST_LOOKUP : LITIFUT_FAST_NONE;
	/* recorded or not, see scratch.c */
	return r->thunks && !r->thunks_differ && r->clock == r->thunk_clock ? LITIFUT_FAST_THUNKS
									    : LITIFUT_FAST_WORDS;
}

/* Two threads may switch recording at once. Whoever stores last has looked at
 * what holds after its store, so that the last word is right. */
void litifut_update_fast(void)
{
	struct litifut_recorder *r = &litifut_recorder;
	uint32_t recording;

	do {
		recording = *(volatile uint32_t *)&r->recording;
		*(volatile uint32_t *)&r->fast = litifut_fastest(recording);
		litifut_port_barrier(r->features);
	} while (*(volatile uint32_t *)&r->recording != recording);
}
