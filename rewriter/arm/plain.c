/* A32 instructions that are done elsewhere. Encodings: DDI 0406C A5. */
#include "rewriter/arm/plain.h"

#include "rewriter/arm/arm.h"
#include "rewriter/image.h"

static bool names_pc(uint32_t field)
{
	return (field & 15) == 15;
}

static uint32_t rotated(uint32_t value, unsigned by)
{
	return value >> by | value << (-by & 31);
}

static bool plain_reads_pc(uint32_t word)
{
	switch (word >> 25 & 7) {
	case 0:
		if ((word & 0x90) == 0x90) /* multiply; extra loads and stores */
			return (word & 0x60) && names_pc(word >> 16);
		if ((word & 0x0ff000f0) == 0x01600010) /* clz */
			return names_pc(word);
		return names_pc(word >> 16) || names_pc(word);
	case 1:
		/* movw, movt, hints, msr have no first operand */
		return (word & 0x01900000) != 0x01000000 && names_pc(word >> 16);
	case 2:
		return names_pc(word >> 16) || (names_pc(word >> 12) && !(word >> 20 & 1));
	case 3:
		/* media instructions have 15 where they use no register */
		return !(word >> 4 & 1) && (names_pc(word >> 16) || names_pc(word) ||
					    (names_pc(word >> 12) && !(word >> 20 & 1)));
	case 4:
		return names_pc(word >> 16) || (word & 0x8000 && !(word >> 20 & 1));
	case 6:
		return names_pc(word >> 16);
	default:
		return false;
	}
}

/* May the instruction, which has no condition, be done elsewhere? Others than these may be calls.
 */
static bool unconditional_moves(uint32_t word)
{
	if (word >> 25 == 0x79) /* NEON data processing */
		return true;
	return !names_pc(word >> 16) &&
	       ((word & 0xff100000) == 0xf4000000 || /* NEON loads and stores: vld1, vst1 */
		(word & 0xff30f000) == 0xf510f000 || /* pld, pldw */
		((word & 0xff30f010) == 0xf710f000 && !names_pc(word)));
}

enum litifut_arm_plain_treatment litifut_arm_plain_treatment(uint32_t word, uint32_t address)
{
	static const struct cpu_context context;
	struct litifut_instruction decoded;
	const bool always = word >> 28 == 0xe;
	const bool loads_pc = (word & 0x0e108000) == 0x08108000 || /* ldm */
			      (word & 0x0c10f000) == 0x0410f000;   /* ldr */
	uint8_t bytes[4];

	if (word >> 28 == 0xf)
		return unconditional_moves(word) ? LITIFUT_ARM_PLAIN_MOVES
						 : LITIFUT_ARM_PLAIN_STUCK;
	litifut_put32(false, bytes, word);
	litifut_arm_decode(&context, bytes, 4, address, LITIFUT_CODE_PLAIN, &decoded);
	switch (decoded.class) {
	case LITIFUT_CLASS_BRANCH_DIRECT:
		return LITIFUT_ARM_PLAIN_BRANCHES;
	case LITIFUT_CLASS_BRANCH_INDIRECT:
		if (plain_reads_pc(word & ~0x000ff000u)) /* which bx and mov have as 15 or 0 */
			return LITIFUT_ARM_PLAIN_STUCK;
		return always ? LITIFUT_ARM_PLAIN_ENDS : LITIFUT_ARM_PLAIN_MOVES;
	case LITIFUT_CLASS_BRANCH_COMPUTED:
		/* a flag of status that is set with the pc is not for programs */
		if (plain_reads_pc(word) || (!loads_pc && (word & 0x0c100000)))
			return LITIFUT_ARM_PLAIN_STUCK;
		return always ? LITIFUT_ARM_PLAIN_ENDS : LITIFUT_ARM_PLAIN_MOVES;
	case LITIFUT_CLASS_OTHER:
		break;
	default:
		return LITIFUT_ARM_PLAIN_STUCK;
	}
	if (loads_pc && !plain_reads_pc(word))
		return always ? LITIFUT_ARM_PLAIN_ENDS : LITIFUT_ARM_PLAIN_MOVES;
	if (loads_pc || decoded.link || (word >> 24 & 15) == 15) /* svc */
		return LITIFUT_ARM_PLAIN_STUCK;
	if (!plain_reads_pc(word))
		return LITIFUT_ARM_PLAIN_MOVES;
	if ((word & 0x0f3f0e00) == 0x0d1f0a00)
		return LITIFUT_ARM_PLAIN_LOADS_VECTOR;
	if (names_pc(word >> 12))
		return LITIFUT_ARM_PLAIN_STUCK;
	if ((word & 0x0f7f10f0) == 0x014f00d0) /* an even register, and the next one */
		return LITIFUT_ARM_PLAIN_LOADS_PAIR;
	/* the others hold a distance in their register first, and a signal may come meanwhile */
	if ((word >> 12 & 15) == 13)
		return LITIFUT_ARM_PLAIN_STUCK;
	if ((word & 0x0fff0000) == 0x028f0000 || (word & 0x0fff0000) == 0x024f0000)
		return LITIFUT_ARM_PLAIN_MAKES_ADDRESS;
	if ((word & 0x0f7f0000) == 0x051f0000)
		return LITIFUT_ARM_PLAIN_LOADS_LITERAL;
	if (((word & 0x0fff0ff0) == 0x008f0000 || (word & 0x0fff0ff0) == 0x079f0000) &&
	    !names_pc(word))
		return LITIFUT_ARM_PLAIN_USES_PC;
	return LITIFUT_ARM_PLAIN_STUCK;
}

bool litifut_arm_put_plain_branch(uint32_t condition, uint32_t address, uint32_t target,
				  uint8_t *code)
{
	uint32_t offset = target - (address + 8);

	litifut_put32(false, code, condition | 0x0a000000 | (offset >> 2 & 0xffffff));
	return offset + (1u << 25) < 1u << 26;
}

/* Is the instruction done by others, which take its operands relative to the pc? */
static bool takes_more(enum litifut_arm_plain_treatment treatment)
{
	switch (treatment) {
	case LITIFUT_ARM_PLAIN_LOADS_LITERAL:
	case LITIFUT_ARM_PLAIN_LOADS_PAIR:
	case LITIFUT_ARM_PLAIN_LOADS_VECTOR:
	case LITIFUT_ARM_PLAIN_MAKES_ADDRESS:
	case LITIFUT_ARM_PLAIN_USES_PC:
		return true;
	default:
		return false;
	}
}

uint32_t litifut_arm_plain_operand(uint32_t word, uint32_t address)
{
	uint32_t offset = word & 0xfff;

	switch (litifut_arm_plain_treatment(word, address)) {
	case LITIFUT_ARM_PLAIN_LOADS_LITERAL:
		break;
	case LITIFUT_ARM_PLAIN_MAKES_ADDRESS:
		offset = rotated(word & 0xff, word >> 7 & 30);
		break;
	case LITIFUT_ARM_PLAIN_LOADS_PAIR:
		offset = (word >> 4 & 0xf0) | (word & 15);
		break;
	case LITIFUT_ARM_PLAIN_LOADS_VECTOR:
		offset = (word & 0xff) * 4;
		break;
	default:
		return 0;
	}
	return word >> 23 & 1 ? address + 8 + offset : address + 8 - offset;
}

bool litifut_arm_move_plain(uint32_t word, uint32_t from, uint32_t address, uint8_t *code,
			    unsigned *used, bool lr_is_free)
{
	const uint32_t operand = litifut_arm_plain_operand(word, from);
	const uint32_t pc = from + 8;
	const uint32_t reg = word >> 12 & 15;
	const enum litifut_arm_plain_treatment treatment = litifut_arm_plain_treatment(word, from);
	uint32_t target, pc_at, base, second;
	bool saves;

	if (word >> 28 < 0xe && takes_more(treatment)) { /* a branch on the opposite condition */
		if (!litifut_arm_put_plain_branch((word & 0xf0000000) ^ 0x10000000, address + *used,
						  from + 4, code + *used))
			return false;
		*used += 4;
		word = (word & 0x0fffffff) | 0xe0000000;
	}
	switch (treatment) {
	case LITIFUT_ARM_PLAIN_MOVES:
		litifut_put32(false, code + *used, word);
		*used += 4;
		return litifut_arm_put_plain_branch(0xe0000000, address + *used, from + 4,
						    code + *used) &&
		       (*used += 4);
	case LITIFUT_ARM_PLAIN_ENDS:
		litifut_put32(false, code + *used, word);
		*used += 4;
		return true;
	case LITIFUT_ARM_PLAIN_BRANCHES:
		target = pc + ((word & 0xffffff) << 2) - (word & 0x800000 ? 0x4000000 : 0);
		if (!litifut_arm_put_plain_branch(word & 0xf0000000, address + *used, target,
						  code + *used))
			return false;
		*used += 4;
		if (word >> 28 == 0xe)
			return true;
		return litifut_arm_put_plain_branch(0xe0000000, address + *used, from + 4,
						    code + *used) &&
		       (*used += 4);
	case LITIFUT_ARM_PLAIN_LOADS_LITERAL: /* ldr rN, =distance; ldr rN, [pc, rN] */
	case LITIFUT_ARM_PLAIN_MAKES_ADDRESS: /* ldr rN, =distance; add rN, pc, rN */
		second = treatment == LITIFUT_ARM_PLAIN_LOADS_LITERAL ? 0xe79f0000 : 0xe08f0000;
		litifut_put32(false, code + *used, 0xe59f0004 | reg << 12);
		litifut_put32(false, code + *used + 4, second | reg << 12 | reg);
		if (!litifut_arm_put_plain_branch(0xe0000000, address + *used + 8, from + 4,
						  code + *used + 8))
			return false;
		litifut_put32(false, code + *used + 12, operand - (address + *used + 4 + 8));
		*used += 16;
		return true;
	case LITIFUT_ARM_PLAIN_USES_PC:
		/* ldr rB, =distance; add rB, pc, rB; the instruction with rB instead of pc */
		base = reg != (word & 15) ? reg : reg != 14 ? 14 : 0;
		saves = base != reg && (base != 14 || !lr_is_free);
		if (saves) { /* push {rB} */
			litifut_put32(false, code + *used, 0xe52d0004 | base << 12);
			*used += 4;
		}
		litifut_put32(false, code + *used, (saves ? 0xe59f000c : 0xe59f0008) | base << 12);
		litifut_put32(false, code + *used + 4, 0xe08f0000 | base << 12 | base);
		litifut_put32(false, code + *used + 8, (word & ~0x000f0000u) | base << 16);
		pc_at = address + *used + 4 + 8;
		*used += 12;
		if (saves) { /* pop {rB} */
			litifut_put32(false, code + *used, 0xe49d0004 | base << 12);
			*used += 4;
		}
		if (!litifut_arm_put_plain_branch(0xe0000000, address + *used, from + 4,
						  code + *used))
			return false;
		litifut_put32(false, code + *used + 4, pc - pc_at);
		*used += 8;
		return true;
	case LITIFUT_ARM_PLAIN_LOADS_PAIR: /* ldr rN, =distance; add rN, pc, rN; ldrd rN, [rN] */
		litifut_put32(false, code + *used, 0xe59f0008 | reg << 12);
		litifut_put32(false, code + *used + 4, 0xe08f0000 | reg << 12 | reg);
		litifut_put32(false, code + *used + 8, 0xe1c000d0 | reg << 16 | reg << 12);
		if (!litifut_arm_put_plain_branch(0xe0000000, address + *used + 12, from + 4,
						  code + *used + 12))
			return false;
		litifut_put32(false, code + *used + 16, operand - (address + *used + 4 + 8));
		*used += 20;
		return true;
	case LITIFUT_ARM_PLAIN_LOADS_VECTOR:
		/* push {lr}; ldr lr, =distance; add lr, pc, lr; vldr [lr]; pop {lr} */
		litifut_put32(false, code + *used, 0xe52de004);
		litifut_put32(false, code + *used + 4, 0xe59fe00c);
		litifut_put32(false, code + *used + 8, 0xe08fe00e);
		litifut_put32(false, code + *used + 12, (word & 0xff50ff00) | 0x008e0000);
		litifut_put32(false, code + *used + 16, 0xe49de004);
		if (!litifut_arm_put_plain_branch(0xe0000000, address + *used + 20, from + 4,
						  code + *used + 20))
			return false;
		litifut_put32(false, code + *used + 24, operand - (address + *used + 8 + 8));
		*used += 28;
		return true;
	case LITIFUT_ARM_PLAIN_STUCK:
		break;
	}
	return false;
}
