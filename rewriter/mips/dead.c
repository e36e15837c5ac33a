/* Between functions all registers may hold something: code in assembly may pass values in any of
 * them, and gcc keeps values in registers across calls of functions that it knows (-fipa-ra). What
 * is behind a jump through a register is not looked for. */
#include "rewriter/mips/dead.h"

#include "cpu/mips/uses.h"
#include "rewriter/dead.h"

#define RA_BIT (1u << LITIFUT_MIPS_RA)

static uint32_t word_at(const struct litifut_dead *dead, uint32_t address)
{
	const struct litifut_arch_context *context = dead->cpu;

	return litifut_get32(context->cpu.big_endian,
			     dead->section->bytes + (address - dead->section->address));
}

static uint32_t use(struct litifut_dead *dead, uint32_t word, uint32_t open)
{
	const struct litifut_mips_uses uses = litifut_mips_uses(word);

	return litifut_dead_use(dead, open, uses.reads, uses.writes);
}

static bool is_within(const struct litifut_dead *dead, uint32_t address)
{
	return address >= dead->start && address < dead->end && dead->end - address >= 4;
}

static bool step(struct litifut_dead *dead, struct litifut_dead_place *place)
{
	const uint32_t at = place->address;
	struct litifut_instruction instruction;
	uint32_t passed;

	if (!is_within(dead, at) || litifut_mips_traps(word_at(dead, at)))
		return false;
	instruction = litifut_mips_branch_at(dead->cpu, dead->section, at);
	place->open = use(dead, word_at(dead, at), place->open);
	place->address += 4;
	if (instruction.class == LITIFUT_CLASS_OTHER)
		return true;
	if (!is_within(dead, at + 4) || litifut_mips_may_jump(word_at(dead, at + 4)))
		return false;
	passed = place->open;
	place->open = use(dead, word_at(dead, at + 4), place->open);
	if (instruction.class == LITIFUT_CLASS_BRANCH_DIRECT) {
		litifut_dead_add(dead, instruction.target, place->open);
		if (instruction.conditional)
			litifut_dead_add(dead, at + 8,
					 litifut_mips_is_likely(word_at(dead, at)) ? passed
										   : place->open);
		place->open = 0;
		return true;
	}
	return false; /* calls, returns, and jumps to anywhere */
}

uint32_t litifut_mips_dead(const struct litifut_arch_context *context,
			   const struct litifut_section *section, uint32_t start, uint32_t end,
			   uint32_t address)
{
	struct litifut_dead dead = {
		.section = section, .start = start, .end = end, .cpu = context, .step = step};

	return litifut_dead_find(&dead, address, LITIFUT_MIPS_DEAD_MOST, RA_BIT);
}
