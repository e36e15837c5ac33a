/* Encoding the MIPS instructions that the rewriter writes; see decode.c. */
#include "rewriter/mips/mips.h"

#include <litifut/module_format.h>

/* bal and its kin reach 2^15 words either way from the delay slot. */
static bool branch_reaches(uint32_t address, uint32_t target)
{
	uint32_t offset = target - (address + 4);

	return offset + 0x20000 < 0x40000;
}

bool litifut_mips_encode_call(const struct litifut_arch_context *context,
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
	if (!branch_reaches(address, entry))
		return false;
	litifut_put32(context->big_endian, code, word | ((entry - (address + 4)) >> 2 & 0xffff));
	return true;
}

static uint32_t high(uint32_t value)
{
	return (value + 0x8000) >> 16;
}

/* An island jump: to `entry`, from anywhere, in any module, changing nothing
 * but $at ($1), which is the assembler's own and never lives across a call.
 *
 *    0  addiu sp, sp, -8
 *    4  sw    ra, 4(sp)
 *    8  bal   16               ra = address + 16
 *   12   lui   at, %hi(distance)
 *   16  addiu at, at, %lo(distance)
 *   20  addu  at, at, ra
 *   24  lw    ra, 4(sp)
 *   28  jr    at
 *   32   addiu sp, sp, 8
 *   36  nop
 */
static void write_jump(const struct litifut_arch_context *context, uint32_t address, uint32_t entry,
		       uint8_t *code)
{
	uint32_t distance = entry - (address + 16);
	const uint32_t words[LITIFUT_MIPS_JUMP_BYTES / 4] = {
		0x27bdfff8,
		0xafbf0004,
		0x04110001,
		0x3c010000 | high(distance),
		0x24210000 | (distance & 0xffff),
		0x003f0821,
		0x8fbf0004,
		0x00200008,
		0x27bd0008,
		0x00000000,
	};

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		litifut_put32(context->big_endian, code + 4 * i, words[i]);
}

void litifut_mips_write_island(const struct litifut_arch_context *context, uint32_t address,
			       const uint32_t *entries, uint8_t *code, uint32_t *island_entries)
{
	for (unsigned i = 0; i < LITIFUT_MIPS_ISLAND_BYTES / LITIFUT_MIPS_JUMP_BYTES; i++) {
		island_entries[i] = address + i * LITIFUT_MIPS_JUMP_BYTES;
		write_jump(context, island_entries[i], entries[i],
			   code + i * LITIFUT_MIPS_JUMP_BYTES);
	}
}
