/* Counting a call at its entry of the instruction DB. */
#ifndef LITIFUT_TRACER_COUNTER_H
#define LITIFUT_TRACER_COUNTER_H

#include <stdint.h>

#include <litifut/module_format.h>

/* This is part of each module, not of the recorder. */
#ifndef LITIFUT_UNGATED
#define LITIFUT_UNGATED
#endif
#include "port.h"

static inline uint32_t litifut_count_word(struct litifut_port_features features, uint32_t *word)
{
	uint32_t old;

	do
		old = *(volatile uint32_t *)word;
	while (!litifut_port_compare_exchange(features, word, old, old + 1));
	return old + 1;
}

/* Code for CPUs that can't do it in one instruction sequence runs on kernels with a helper for it:
 * modules with thunks are made for others. */
static inline void litifut_count(const struct litifut_module *module, uint32_t bias, uint32_t index)
{
	const struct litifut_port_features features = {.modern = module->engine ==
								 LITIFUT_ENGINE_THUNK};
	uint32_t *counter =
		(uint32_t *)(module->flags_address + bias + LITIFUT_COUNTER_OFFSET(index));

	if (!litifut_count_word(features, counter))
		litifut_count_word(features, counter + 1);
}

#endif
