/* LITIFUT_MODE=paths: the bits and records of a thread. */
#ifndef LITIFUT_TRACER_BITS_H
#define LITIFUT_TRACER_BITS_H

#include <stdbool.h>
#include <stdint.h>

#include <litifut/litifut.h>
#include <litifut/trace_format.h>

#include "tracer/recorder/state.h"

struct litifut_thread;

#pragma GCC visibility push(hidden)

/* What code of the program could not put down by itself. */
void litifut_bits_record(struct litifut_thread *thread, const struct litifut_call *call);
/* litifut_put() of a control word and what belongs to it. */
bool litifut_bits_put(struct litifut_thread *thread, const uint32_t *words, uint32_t count);
/* LITIFUT_SYSCALLS=never, which `settings.no_calls` does not say before threads can be armed: a
 * thread that is not armed by then would record each branch in several words. */
extern uint32_t litifut_bits_never;

#pragma GCC visibility pop

static inline bool litifut_is_bits(void)
{
	return LITIFUT_PORT_BITS && litifut_has_bits();
}

#endif
