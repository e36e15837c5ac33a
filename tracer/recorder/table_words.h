/* The words that LITIFUT_MODE=table has for an event, see <litifut/fold.h>. */
#ifndef LITIFUT_TRACER_TABLE_WORDS_H
#define LITIFUT_TRACER_TABLE_WORDS_H

#include <stdbool.h>
#include <stdint.h>

#include <litifut/litifut.h>

#include "tracer/recorder/state.h"

static inline bool litifut_is_table(void)
{
	return !LITIFUT_STREAM_ONLY && litifut_recorder.mode == LITIFUT_MODE_TABLE;
}

/* Does the code of the program set flags, or count, and make no events? */
static inline bool litifut_is_flags(void)
{
	return litifut_recorder.mode == LITIFUT_MODE_COVERAGE ||
	       litifut_recorder.mode == LITIFUT_MODE_COUNTS;
}

/* What the cursors of the process lead to. */
static inline uint32_t litifut_family(void)
{
	return litifut_has_bits()   ? LITIFUT_FAMILY_BITS
	       : litifut_is_table() ? LITIFUT_FAMILY_TABLE
				    : LITIFUT_FAMILY_STREAM;
}

/* Does it stand for a return? */
static inline bool litifut_is_return(const struct litifut_call *call)
{
	const struct litifut_module *module = call->module;
	uint32_t bias = (uint32_t)module - module->link_address;

	return call->kind == LITIFUT_SITE_DIRECT && LITIFUT_MODULE_HAS(module, exits_end) &&
	       call->return_address - bias - module->exits_start <
		       module->exits_end - module->exits_start;
}

/* The words of an event, at most 4; returns how many. */
uint32_t litifut_table_words(const struct litifut_call *call, uint64_t now, uint32_t *words)
	__attribute__((visibility("hidden")));

#endif
