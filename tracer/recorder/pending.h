/* Full chunks that code which a signal handler has interrupted may still store to. */
#ifndef LITIFUT_TRACER_PENDING_H
#define LITIFUT_TRACER_PENDING_H

#include <stdbool.h>
#include <stdint.h>

struct litifut_thread;

#pragma GCC visibility push(hidden)

/* The calling thread leaves this full chunk. `keep`: a store to it may be pending, so that it
 * stays mapped, and its `place` in use (sink/ring.h; UINT32_MAX: it has none), until that cannot be
 * any more. Others that were kept are given back when their time has come. Signals are
 * blocked. */
void litifut_pending(uint32_t chunk, uint32_t place, bool keep);
/* May a store of `thread`, the calling one, to this chunk be pending? */
bool litifut_is_pending(struct litifut_thread *thread, uint32_t chunk);
/* The thread whose chunk this is, or NULL. */
struct litifut_thread *litifut_thread_in(uint32_t chunk);

#pragma GCC visibility pop

#endif
