/* Which return addresses have a counter, see counts.h. */
#ifndef LITIFUT_REWRITER_COUNTERS_H
#define LITIFUT_REWRITER_COUNTERS_H

#include <stdbool.h>
#include <stdint.h>

#include <litifut/module_format.h>

struct litifut_counters {
	uint32_t room; /* link-time address */
	uint32_t db;   /* how many belong to the DB */
	/* Link-time address of the counter of return address 0, modulo 2^32. */
	uint32_t of_return;
};

/* Where a piece of the room begins is no counter: the calls concerned, 1 of 600, use the DB. */
static inline bool litifut_counters_have(const struct litifut_counters *counters,
					 uint32_t return_address)
{
	const uint32_t offset = counters->of_return + return_address - counters->room;

	return offset % LITIFUT_FLAGS_PIECE >= LITIFUT_FLAGS_HEAD &&
	       offset % LITIFUT_FLAGS_PIECE <= LITIFUT_FLAGS_PIECE - LITIFUT_COUNTER_BYTES;
}

#endif
