/* Recording of branches is switched off and on: the newest word becomes one in which, and behind
 * which, nothing finds room, until paths.c or numbers.c puts a record in its place. */
#include "tracer/sink/paths/drain.h"

void litifut_start(void);
void litifut_stop(void);

void litifut_start(void)
{
	const litifut_interrupts masked = litifut_interrupts_off();

	if (litifut_paths.off) /* else bits may wait for the end of their word */
		litifut_paths_switch(false);
	litifut_paths.off = false;
	litifut_interrupts_restore(masked);
}

void litifut_stop(void)
{
	const litifut_interrupts masked = litifut_interrupts_off();
	struct paths_ring *ring = &litifut_paths;

	if (!ring->off && litifut_paths_newest()) {
		uint32_t *newest = litifut_paths_close();

		if (*newest == LITIFUT_PATHS_NONE) {
			*newest = LITIFUT_PATHS_CLOSED;
		} else if (!litifut_paths_is_closed(newest)) { /* it has no room for one more */
			ring->next = newest + 1;
			ring->state.cursor = (uintptr_t)litifut_paths_nowhere;
			ring->state.lost++;
		}
		ring->state.stop = ring->state.cursor;
	}
	ring->off = ring->owes = true;
	litifut_paths_switch(true);
	litifut_interrupts_restore(masked);
}
