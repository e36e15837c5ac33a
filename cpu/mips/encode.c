/* Encoding the MIPS instructions that replace others; see decode.c. */
#include "cpu/mips/mips.h"

#include "common/bytes.h"

/* bal and its kin reach 2^15 words either way from the delay slot. */
bool litifut_mips_branch_reaches(uint32_t address, uint32_t target)
{
	uint32_t offset = target - (address + 4);

	return offset + 0x20000 < 0x40000;
}

bool litifut_mips_encode_call(const struct cpu_context *context,
			      const struct litifut_instruction *instruction, uint32_t address,
			      uint32_t entry, uint8_t *code)
{
	uint32_t word = 0x04110000; /* bal */

	if (instruction->conditional)
		word = instruction->word & 0xffff0000; /* its own condition */
	else if (!context->position_independent &&
		 ((address + 4) & 0xf0000000) == (entry & 0xf0000000)) {
		litifut_put32(context->big_endian, code, 0x0c000000 | (entry >> 2 & 0x3ffffff));
		return true;
	}
	if (!litifut_mips_branch_reaches(address, entry))
		return false;
	litifut_put32(context->big_endian, code, word | ((entry - (address + 4)) >> 2 & 0xffff));
	return true;
}

uint32_t litifut_mips_high(uint32_t value)
{
	return (value + 0x8000) >> 16;
}

uint32_t litifut_mips_branch(uint32_t word, uint32_t address, uint32_t target)
{
	return word | ((target - (address + 4)) >> 2 & 0xffff);
}

uint32_t litifut_mips_jump(const struct cpu_context *context, bool link, uint32_t address,
			   uint32_t target)
{
	if (!context->position_independent && ((address + 4) & 0xf0000000) == (target & 0xf0000000))
		return (link ? 0x0c000000 : 0x08000000) | (target >> 2 & 0x3ffffff);
	if (!litifut_mips_branch_reaches(address, target))
		return 0;
	return litifut_mips_branch(link ? 0x04110000 : 0x10000000, address, target);
}
