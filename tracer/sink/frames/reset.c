/* All numbers begin anew. A call that is being counted at this moment, in a task or interrupt
 * that this one has come between, may be counted yet. */
#include "tracer/sink/frames/frames.h"

void litifut_reset(void);

static void litifut_clear(volatile uint32_t *words, uint32_t count)
{
	while (count)
		words[--count] = 0;
}

void litifut_reset(void)
{
	litifut_clear(litifut_table, (uint32_t)(litifut_table_end - litifut_table));
	if (litifut_overflow)
		litifut_clear(litifut_overflow,
			      LITIFUT_OVERFLOW_ENTRIES *
				      ((litifut_identity.flags & LITIFUT_FRAMES_TIMES
						? LITIFUT_RECORD_TIMES
						: LITIFUT_RECORD_COUNT) +
				       LITIFUT_OVERFLOW_EXTRA));
	for (uintptr_t i = 0; i < (uintptr_t)litifut_profile_bins; i++)
		((volatile uint16_t *)litifut_profile)[i] = 0;
}
