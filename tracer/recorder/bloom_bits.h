/* Which bits of the Bloom filter stand for a call: pure arithmetic, so that its
 * error rate is measured on the build machine. */
#ifndef LITIFUT_TRACER_BLOOM_BITS_H
#define LITIFUT_TRACER_BLOOM_BITS_H

#include <stdint.h>

/* Bits for each pair: the best number for a filter that is half full with six
 * bits for each pair; 1 of 16 new pairs is then taken for a known one. */
#define LITIFUT_BLOOM_HASHES 4

struct litifut_bloom_bits {
	uint32_t first;
	uint32_t step; /* odd, so that all bits of the filter are in reach */
};

/* Mixes all bits of a word into all bits of the result. */
static inline uint32_t litifut_bloom_mix(uint32_t word)
{
	word = (word ^ word >> 16) * 0x7feb352du;
	word = (word ^ word >> 15) * 0x846ca68bu;
	return word ^ word >> 16;
}

static inline struct litifut_bloom_bits litifut_bloom_bits(uint32_t return_address, uint32_t callee)
{
	struct litifut_bloom_bits bits;

	bits.first = litifut_bloom_mix(return_address ^ (callee << 16 | callee >> 16));
	bits.step = litifut_bloom_mix(bits.first ^ callee) | 1;
	return bits;
}

/* Bit number `i` of a pair, in a filter of mask + 1 bits. */
static inline uint32_t litifut_bloom_bit(struct litifut_bloom_bits bits, uint32_t i, uint32_t mask)
{
	return (bits.first + i * bits.step) & mask;
}

#endif
