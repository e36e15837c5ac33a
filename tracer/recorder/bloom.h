/* LITIFUT_DEDUP: what has been seen. */
#ifndef LITIFUT_TRACER_BLOOM_H
#define LITIFUT_TRACER_BLOOM_H

#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

/* Makes the filter when it is asked for; empties it after fork. */
void litifut_bloom_start(void);
/* True when this pair has been seen, or seems so; remembers it. */
bool litifut_bloom_seen(uint32_t return_address, uint32_t callee);

#pragma GCC visibility pop

#endif
