/* Finding a call site in the instruction DB: pure code. */
#ifndef LITIFUT_TRACER_DATABASE_H
#define LITIFUT_TRACER_DATABASE_H

#include <stdint.h>

#include <litifut/module_format.h>

/* The index of the entry for `return_address` (link-time, as in the DB) among
 * `count` sorted entries, or `count` when there is none. */
static inline uint32_t litifut_database_find(const struct litifut_db_entry *entries, uint32_t count,
					     uint32_t return_address)
{
	uint32_t low = 0;
	uint32_t size = count;

	while (size > 1) {
		uint32_t half = size / 2;

		if (entries[low + half].return_address <= return_address)
			low += half;
		size -= half;
	}
	return size && entries[low].return_address == return_address ? low : count;
}

/* The same through `cache`, `cache_entries` (a power of two) indices that start
 * as 0 and are filled as sites are met. A slot is one word and only a hint that
 * is checked against the DB, so threads and signal handlers share it without
 * any order between them. Sites lie at multiples of 1 << alignment_bits. */
static inline uint32_t litifut_database_find_cached(const struct litifut_db_entry *entries,
						    uint32_t count, uint32_t return_address,
						    uint32_t *cache, uint32_t cache_entries,
						    unsigned alignment_bits)
{
	uint32_t *slot = &cache[return_address >> alignment_bits & (cache_entries - 1)];
	uint32_t index = *(volatile uint32_t *)slot;

	if (index < count && entries[index].return_address == return_address)
		return index;
	index = litifut_database_find(entries, count, return_address);
	if (index < count)
		*(volatile uint32_t *)slot = index;
	return index;
}

#endif
