/* LITIFUT_DEDUP: each (call site, callee) once, through a Bloom filter. All
 * threads share it without a lock: a bit is only ever set, by compare-and-swap,
 * and two threads that meet a pair at the same moment may both record it. */

#include "tracer/recorder/bloom.h"

#include <stddef.h>

#include "tracer/port/linux/memory.h"
#include "tracer/port/linux/system.h"
#include "tracer/recorder/bloom_bits.h"
#include "tracer/recorder/shared.h"
#include "tracer/recorder/state.h"

#define LITIFUT_BLOOM_KB_MOST 65536

void litifut_bloom_start(void)
{
	struct litifut_recorder *r = &litifut_recorder;
	uint32_t kb = 1;
	long room;

	/* a return is of use only with its call */
	if (!r->settings.dedup || r->mode == LITIFUT_MODE_SPANS)
		return;
	while (kb < r->settings.bloom_kb && kb < LITIFUT_BLOOM_KB_MOST)
		kb *= 2;
	if (r->bloom) /* the parent's: this is a copy in a forked child */
		litifut_unmap((uint32_t)r->bloom, kb << 10);
	r->bloom = NULL;
	room = litifut_map_memory(kb << 10);
	if (litifut_failed(room))
		return;
	r->bloom = (uint32_t *)room;
	r->bloom_mask = (kb << 13) - 1;
	r->file.header->bloom_bits = kb << 13;
	r->file.header->bloom_hashes = LITIFUT_BLOOM_HASHES;
	r->file.header->flags |= LITIFUT_TRACE_DEDUP;
}

bool litifut_bloom_seen(uint32_t return_address, uint32_t callee)
{
	struct litifut_recorder *r = &litifut_recorder;
	struct litifut_bloom_bits bits = litifut_bloom_bits(return_address, callee);
	uint32_t added = 0;

	for (uint32_t i = 0; i < LITIFUT_BLOOM_HASHES; i++) {
		uint32_t bit = litifut_bloom_bit(bits, i, r->bloom_mask);
		uint32_t *word = &r->bloom[bit >> 5];
		uint32_t mask = UINT32_C(1) << (bit & 31);
		uint32_t old = *(volatile uint32_t *)word;

		while (!(old & mask)) {
			if (litifut_port_compare_exchange(r->features, word, old, old | mask)) {
				added++;
				break;
			}
			old = *(volatile uint32_t *)word;
		}
	}
	if (added) {
		litifut_add_here(&r->file.header->bloom_bits_set, added);
		return false;
	}
	litifut_add_here(&r->file.header->bloom_suppressed, 1);
	return true;
}
