/* Words that threads share. */
#ifndef LITIFUT_TRACER_SHARED_H
#define LITIFUT_TRACER_SHARED_H

#include <stdbool.h>
#include <stdint.h>

#include "tracer/recorder/state.h"

#pragma GCC visibility push(hidden)

/* Adds to a shared counter; returns what it was. */
uint32_t litifut_add(uint32_t *word, uint32_t amount);
/* True when this caller changed `*word` from `expected` to `desired`. */
bool litifut_exchange(uint32_t *word, uint32_t expected, uint32_t desired);
/* Counts `events` as lost, in the header when there is one. */
void litifut_lose(uint32_t events);

#pragma GCC visibility pop

/* litifut_add() in place, for what is counted at events. */
static inline uint32_t litifut_add_here(uint32_t *word, uint32_t amount)
{
	uint32_t old;

	do
		old = *(volatile uint32_t *)word;
	while (!litifut_port_compare_exchange(litifut_recorder.features, word, old, old + amount));
	return old;
}

#endif
