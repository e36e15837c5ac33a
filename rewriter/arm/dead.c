/* Between functions all registers may hold something, as code in assembly may pass values in any of
 * them. No callee gets anything in the flags (AAPCS, 5.1.1), but libgcc's comparisons return in
 * them. */
#include "rewriter/arm/dead.h"

#include "cpu/arm/uses.h"
#include "rewriter/arm/arm.h"
#include "rewriter/dead.h"

#define LR_BIT (1u << 14)

/* A callee in the same section may be code in assembly that keeps the flags for its caller: it is
 * followed up to where it writes them. */
static void call(struct litifut_dead *dead, const struct litifut_instruction *instruction,
		 bool thumb, uint32_t open)
{
	const uint32_t target = instruction->target & ~1u;
	const uint32_t flags = open & LITIFUT_ARM_USES_FLAGS;

	litifut_dead_lose(dead, open & ~(LR_BIT | LITIFUT_ARM_USES_FLAGS));
	if (target > dead->start && target < dead->end) /* to anything */
		litifut_dead_lose(dead, open);
	else if (target - dead->section->address >= dead->section->size || !flags)
		return;
	else if ((instruction->target & 1) != thumb)
		litifut_dead_lose(dead, flags);
	else
		litifut_dead_add(dead, target, flags);
}

/* What is not decided behind an instruction; 0: nothing, or control does not go on there. */
static uint32_t go_on(struct litifut_dead *dead, const struct litifut_instruction *instruction,
		      bool thumb, bool conditional, uint32_t next, uint32_t open)
{
	switch (instruction->class) {
	case LITIFUT_CLASS_OTHER:
		return open;
	case LITIFUT_CLASS_CALL_DIRECT:
	case LITIFUT_CLASS_FOREIGN_CALL:
		call(dead, instruction, thumb, open);
		return conditional ? open : 0;
	case LITIFUT_CLASS_CALL_INDIRECT:
		litifut_dead_lose(dead, open & ~(LR_BIT | LITIFUT_ARM_USES_FLAGS));
		return conditional ? open : 0;
	case LITIFUT_CLASS_BRANCH_DIRECT:
		litifut_dead_add(dead, instruction->target & ~1u, open);
		if (conditional)
			litifut_dead_add(dead, next, open);
		return 0;
	default:
		return litifut_dead_lose(dead, open);
	}
}

/* Is the code there followed? That of other functions only for the flags. */
static bool is_within(const struct litifut_dead *dead, uint32_t at, uint32_t open)
{
	return (at >= dead->start && at < dead->end) ||
	       (!(open & ~LITIFUT_ARM_USES_FLAGS) &&
		at - dead->section->address < dead->section->size);
}

/* The state of the place are the instructions of an IT block to come. */
static bool step(struct litifut_dead *dead, struct litifut_dead_place *place)
{
	static const struct cpu_context context;
	const struct litifut_section *section = dead->section;
	const bool thumb = *(const bool *)dead->cpu;
	const uint32_t at = place->address;
	const uint8_t *code = section->bytes + (at - section->address);
	struct litifut_instruction instruction;
	struct litifut_arm_uses uses;
	unsigned length, narrow;
	bool conditional;

	length = is_within(dead, at, place->open)
			 ? litifut_arm_decode(&context, code, section->address + section->size - at,
					      at, thumb ? LITIFUT_CODE_THUMB : LITIFUT_CODE_PLAIN,
					      &instruction)
			 : 0;
	if (!length)
		return false;
	narrow = litifut_get16(false, code);
	uses = !thumb        ? litifut_arm_plain_uses(litifut_get32(false, code))
	       : length == 2 ? litifut_arm_thumb_uses(narrow, 2, !place->state)
			     : litifut_arm_thumb_uses(narrow << 16 | litifut_get16(false, code + 2),
						      4, !place->state);
	place->open = litifut_dead_use(dead, place->open, uses.reads, uses.writes);
	conditional = instruction.conditional || place->state;
	place->open = go_on(dead, &instruction, thumb, conditional, at + length, place->open);
	if (place->state)
		place->state--;
	else if (thumb && length == 2)
		place->state = litifut_arm_it_length((uint16_t)narrow);
	place->address += length;
	return true;
}

uint32_t litifut_arm_dead(const struct litifut_section *section, uint32_t start, uint32_t end,
			  bool thumb, uint32_t address)
{
	struct litifut_dead dead = {
		.section = section, .start = start, .end = end, .cpu = &thumb, .step = step};

	return litifut_dead_find(&dead, address, LITIFUT_ARM_DEAD_MOST, LR_BIT);
}
