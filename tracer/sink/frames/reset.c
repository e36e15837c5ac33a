/* All numbers begin anew. A call that is being counted at this moment, in a task or interrupt
 * that this one has come between, may be counted yet, and so may the time of a task. */
#include "tracer/sink/frames/tasks.h"

void litifut_reset(void);

static void litifut_clear(volatile uint32_t *words, uint32_t count)
{
	while (count)
		words[--count] = 0;
}

void litifut_reset(void)
{
	const uint32_t words = (uint32_t)(uintptr_t)litifut_words;

	/* a table, or a ring, which is not sent as numbers */
	litifut_clear(litifut_table, (uint32_t)(litifut_table_end - litifut_table));
	litifut_clear((uint32_t *)(void *)litifut_profile - words, words);
	for (uintptr_t i = 0; i < (uintptr_t)litifut_profile_bins; i++)
		((volatile uint16_t *)litifut_profile)[i] = 0;
	if (litifut_tasks_reset)
		litifut_tasks_reset();
}
