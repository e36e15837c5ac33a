#include "rewriter/arm/edge_record.h"

#include <litifut/thunk_abi.h>

uint32_t litifut_arm_edge_number_word(const struct litifut_block *block)
{
	const uint32_t bits = LITIFUT_ENTERED_BITS(block->entered);
	const uint32_t word =
		(31 - bits) | LITIFUT_ENTERED_NUMBER_OF(block->entered) << 8 | bits << 16;

	return block->flags & LITIFUT_BLOCK_THUMB ? word << 8 : word;
}

uint32_t litifut_arm_edge_free_code(const uint32_t *bits, unsigned bit, uint8_t form)
{
	return bits[0] + LITIFUT_BITS_FREE_ARM +
	       (2u * (form - LITIFUT_ARM_FREE_FLAGS) + bit) * LITIFUT_BITS_FREE_BYTES;
}
