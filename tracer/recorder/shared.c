/* Words that threads share. */

#include "tracer/recorder/shared.h"

uint32_t litifut_add(uint32_t *word, uint32_t amount)
{
	return litifut_add_here(word, amount);
}

bool litifut_exchange(uint32_t *word, uint32_t expected, uint32_t desired)
{
	while (*(volatile uint32_t *)word == expected)
		if (litifut_port_compare_exchange(litifut_recorder.features, word, expected,
						  desired))
			return true;
	return false;
}

void litifut_lose(uint32_t events)
{
	struct litifut_recorder *r = &litifut_recorder;
	uint32_t *lost = r->file.header ? &r->file.header->lost_events : &r->lost_early;

	litifut_add(r->orphans ? r->orphans : lost, events);
}
