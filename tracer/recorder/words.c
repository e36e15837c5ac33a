/* Words that threads share. */

#include "tracer/recorder/recorder.h"

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
