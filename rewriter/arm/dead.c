/* All ways on are followed, each with what is not decided yet: what is read first is alive, what is
 * written first is decided for that way. Between functions all registers may hold something, as
 * code in assembly may pass values in any of them. No callee gets anything in the flags
 * (AAPCS, 5.1.1), but libgcc's comparisons return in them.
 *
 * A backtrace needs the return address, which may be in lr alone. Where no way writes lr, as in a
 * leaf that does not end, it counts as alive. */
#include "rewriter/arm/dead.h"

#include "cpu/arm/uses.h"
#include "rewriter/arm/arm.h"

#define LR_BIT (1u << 14)

/* So many instructions on all ways together, and so many ways. */
#define STEPS 600
#define WAYS 64

struct way {
	uint32_t address;
	uint32_t open; /* what is not decided before it */
};

struct scan {
	const struct litifut_section *section;
	uint32_t start;
	uint32_t end;
	bool thumb;
	uint32_t alive;
	uint32_t written; /* on some way */
	unsigned steps;
	struct way ways[WAYS]; /* those that have been followed stay */
	bool todo[WAYS];
	unsigned count;
};

/* A way that begins there; false: it is known already. */
static bool add(struct scan *scan, uint32_t address, uint32_t open)
{
	for (unsigned i = 0; i < scan->count; i++)
		if (scan->ways[i].address == address) {
			if (!(open & ~scan->ways[i].open))
				return false;
			scan->ways[i].open |= open;
			scan->todo[i] = true;
			return true;
		}
	if (scan->count == WAYS) {
		scan->alive |= open;
		return false;
	}
	scan->ways[scan->count] = (struct way){address, open};
	scan->todo[scan->count++] = true;
	return true;
}

/* A callee in the same section may be code in assembly that keeps the flags for its caller: it is
 * followed up to where it writes them. */
static void call(struct scan *scan, const struct litifut_instruction *instruction, uint32_t open)
{
	const uint32_t target = instruction->target & ~1u;
	const uint32_t flags = open & LITIFUT_ARM_USES_FLAGS;

	scan->alive |= open & ~(LR_BIT | LITIFUT_ARM_USES_FLAGS);
	if (target > scan->start && target < scan->end) /* to anything */
		scan->alive |= open;
	else if (target - scan->section->address >= scan->section->size || !flags)
		return;
	else if ((instruction->target & 1) != scan->thumb)
		scan->alive |= flags;
	else
		add(scan, target, flags);
}

/* What is not decided behind an instruction; 0: nothing, or control does not go on there. */
static uint32_t go_on(struct scan *scan, const struct litifut_instruction *instruction,
		      bool conditional, uint32_t next, uint32_t open)
{
	const uint32_t target = instruction->target & ~1u;

	switch (instruction->class) {
	case LITIFUT_CLASS_OTHER:
		return open;
	case LITIFUT_CLASS_CALL_DIRECT:
	case LITIFUT_CLASS_FOREIGN_CALL:
		call(scan, instruction, open);
		return conditional ? open : 0;
	case LITIFUT_CLASS_CALL_INDIRECT:
		scan->alive |= open & ~(LR_BIT | LITIFUT_ARM_USES_FLAGS);
		return conditional ? open : 0;
	case LITIFUT_CLASS_BRANCH_DIRECT:
		add(scan, target, open);
		if (conditional)
			add(scan, next, open);
		return 0;
	default:
		scan->alive |= open;
		return 0;
	}
}

/* Is the code there followed? That of other functions only for the flags. */
static bool is_within(const struct scan *scan, uint32_t at, uint32_t open)
{
	return (at >= scan->start && at < scan->end) ||
	       (!(open & ~LITIFUT_ARM_USES_FLAGS) &&
		at - scan->section->address < scan->section->size);
}

static void follow(struct scan *scan, uint32_t at, uint32_t open)
{
	static const struct cpu_context context;
	const uint32_t section_end = scan->section->address + scan->section->size;
	unsigned block = 0; /* instructions of an IT block to come */

	while (open & ~scan->alive) {
		const uint8_t *code = scan->section->bytes + (at - scan->section->address);
		struct litifut_instruction instruction;
		struct litifut_arm_uses uses;
		unsigned length, narrow;

		length = is_within(scan, at, open) && scan->steps++ < STEPS
				 ? litifut_arm_decode(&context, code, section_end - at, at,
						      scan->thumb ? LITIFUT_CODE_THUMB
								  : LITIFUT_CODE_PLAIN,
						      &instruction)
				 : 0;
		if (!length) {
			scan->alive |= open;
			return;
		}
		narrow = litifut_get16(false, code);
		uses = !scan->thumb ? litifut_arm_plain_uses(litifut_get32(false, code))
		       : length == 2
			       ? litifut_arm_thumb_uses(narrow, 2, !block)
			       : litifut_arm_thumb_uses(
					 narrow << 16 | litifut_get16(false, code + 2), 4, !block);
		scan->alive |= open & uses.reads;
		scan->written |= open & uses.writes;
		open &= ~(uses.reads | uses.writes);
		open = go_on(scan, &instruction, instruction.conditional || block, at + length,
			     open);
		if (block)
			block--;
		else if (scan->thumb && length == 2)
			block = litifut_arm_it_length((uint16_t)narrow);
		at += length;
	}
}

uint32_t litifut_arm_dead(const struct litifut_section *section, uint32_t start, uint32_t end,
			  bool thumb, uint32_t address)
{
	struct scan scan = {.section = section, .start = start, .end = end, .thumb = thumb};
	uint32_t dead;

	add(&scan, address, LITIFUT_ARM_DEAD_MOST);
	for (bool again = true; again && scan.alive != LITIFUT_ARM_DEAD_MOST;) {
		again = false;
		for (unsigned i = 0; i < scan.count; i++)
			if (scan.todo[i]) {
				scan.todo[i] = false;
				again = true;
				follow(&scan, scan.ways[i].address, scan.ways[i].open);
			}
	}
	dead = LITIFUT_ARM_DEAD_MOST & ~scan.alive;
	return scan.written & LR_BIT ? dead : dead & ~LR_BIT;
}
