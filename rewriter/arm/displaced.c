/* Encodings: DDI 0406C A6.2 (16-bit), A6.3 (32-bit). */
#include "rewriter/arm/displaced.h"

#include "rewriter/arm/arm.h"
#include "rewriter/image.h"

uint16_t litifut_arm_condition(uint32_t word, unsigned length)
{
	/* Keep the condition, or the register and the sense; drop the offset. */
	if (length == 2 && (word & 0xf000) == 0xd000 && (word >> 8 & 0xf) < 0xe)
		return word & 0xff00;
	if (length == 2 && (word & 0xf500) == 0xb100)
		return word & 0xfd07;
	if (length == 4 && (word & 0xf800d000) == 0xf0008000 && (word >> 22 & 0xf) < 0xe)
		return (uint16_t)(0xd000 | (word >> 22 & 0xf) << 8);
	return 0;
}

static struct litifut_arm_analysis analyse_narrow(uint16_t half, uint32_t address)
{
	struct litifut_instruction decoded;
	struct cpu_context context = {0};
	uint32_t pc = address + 4;
	uint8_t bytes[2];
	unsigned low = (half & 7) | (half >> 4 & 8);

	litifut_put16(false, bytes, half);
	litifut_arm_decode(&context, bytes, 2, address, LITIFUT_CODE_THUMB, &decoded);
	if (decoded.class == LITIFUT_CLASS_BRANCH_DIRECT && decoded.conditional)
		return (struct litifut_arm_analysis){LITIFUT_ARM_BRANCHES, 0, decoded.target & ~1u,
						     litifut_arm_condition(half, 2)};
	if (decoded.class != LITIFUT_CLASS_OTHER)
		return (struct litifut_arm_analysis){LITIFUT_ARM_STAYS, 0, 0, 0};
	if ((half & 0xf800) == 0x4800) /* LDR (literal), T1 */
		return (struct litifut_arm_analysis){LITIFUT_ARM_LOADS_LITERAL, half >> 8 & 7,
						     (pc & ~3u) + (half & 0xff) * 4, 0};
	if ((half & 0xf800) == 0xa000) /* ADR, T1 */
		return (struct litifut_arm_analysis){LITIFUT_ARM_FORMS_ADDRESS, half >> 8 & 7,
						     (pc & ~3u) + (half & 0xff) * 4, 0};
	if ((half & 0xfc00) == 0x4400) { /* high-register ADD, CMP, MOV */
		bool reads_pc = (half & 0x78) == 0x78;
		bool compares = (half & 0x0300) == 0x0100;

		if (!reads_pc && (low != 15 || compares))
			return (struct litifut_arm_analysis){LITIFUT_ARM_MOVES, 0, 0, 0};
		if (!reads_pc || low == 13 || low == 15 || compares)
			return (struct litifut_arm_analysis){LITIFUT_ARM_STAYS, 0, 0, 0};
		return (struct litifut_arm_analysis){
			(half & 0x0300) == 0x0200 ? LITIFUT_ARM_FORMS_ADDRESS : LITIFUT_ARM_ADDS_PC,
			low, pc, 0};
	}
	if ((half & 0xff00) == 0xbd00 || (half & 0xff00) == 0xbe00 || /* pop {pc}, bkpt */
	    (half & 0xff00) == 0xde00 || (half & 0xff00) == 0xdf00 || /* udf, svc */
	    ((half & 0xff00) == 0xbf00 && half & 0xf))                /* it */
		return (struct litifut_arm_analysis){LITIFUT_ARM_STAYS, 0, 0, 0};
	return (struct litifut_arm_analysis){LITIFUT_ARM_MOVES, 0, 0, 0};
}

bool litifut_arm_is_landing(uint32_t word)
{
	return word == 0xf3af800f || word == 0xf3af800d || word == LITIFUT_ARM_SG;
}

static struct litifut_arm_analysis analyse_wide(uint32_t word, uint32_t address)
{
	static const struct litifut_arm_analysis stays = {LITIFUT_ARM_STAYS, 0, 0, 0};
	struct litifut_instruction decoded;
	struct cpu_context context = {0};
	uint32_t first = word >> 16;
	uint32_t second = word & 0xffff;
	uint32_t aligned_pc = (address + 4) & ~3u;
	unsigned group = first >> 9 & 0x7f; /* top seven bits */
	bool rn_is_pc = (first & 0xf) == 0xf;
	uint8_t bytes[4];

	litifut_put16(false, bytes, (uint16_t)first);
	litifut_put16(false, bytes + 2, (uint16_t)second);
	litifut_arm_decode(&context, bytes, 4, address, LITIFUT_CODE_THUMB, &decoded);
	/* v8.1-M: other conditions than those of b, and what holds the instructions behind it */
	if (litifut_arm_ends_loop(word) || litifut_arm_begins_loop(word) ||
	    litifut_arm_vpt_length(word) || litifut_arm_is_landing(word))
		return stays;
	if (decoded.class == LITIFUT_CLASS_BRANCH_DIRECT && decoded.conditional)
		return (struct litifut_arm_analysis){LITIFUT_ARM_BRANCHES, 0, decoded.target & ~1u,
						     litifut_arm_condition(word, 4)};
	if (decoded.class != LITIFUT_CLASS_OTHER)
		return stays;
	if ((first & 0xff7f) == 0xf85f && second >> 12 != 13 && second >> 12 != 15) {
		/* LDR (literal), T2 */
		uint32_t offset = second & 0xfff;

		return (struct litifut_arm_analysis){
			LITIFUT_ARM_LOADS_LITERAL, second >> 12,
			first & 0x80 ? aligned_pc + offset : aligned_pc - offset, 0};
	}
	if ((first & 0xff7f) == 0xe95f && second >> 12 != 13 && second >> 12 != 15) {
		/* LDRD (literal), T1 */
		uint32_t offset = (second & 0xff) * 4;

		return (struct litifut_arm_analysis){
			LITIFUT_ARM_LOADS_PAIR, second >> 12,
			first & 0x80 ? aligned_pc + offset : aligned_pc - offset, 0};
	}
	if ((first & 0xff3f) == 0xed1f && (second & 0x0e00) == 0x0a00) { /* VLDR, T1 and T2 */
		uint32_t offset = (second & 0xff) * 4;

		return (struct litifut_arm_analysis){
			LITIFUT_ARM_LOADS_VECTOR, 0,
			first & 0x80 ? aligned_pc + offset : aligned_pc - offset, 0};
	}
	if ((first & 0xfbff) == 0xf2af || (first & 0xfbff) == 0xf20f) { /* ADR, T2 and T3 */
		uint32_t offset = (first & 0x400) << 1 | (second & 0x7000) >> 4 | (second & 0xff);
		unsigned reg = second >> 8 & 0xf;

		if (reg >= 13)
			return stays;
		return (struct litifut_arm_analysis){
			LITIFUT_ARM_FORMS_ADDRESS, reg,
			first & 0xa0 ? aligned_pc - offset : aligned_pc + offset, 0};
	}
	switch (group) {
	case 0x74: /* 1110100: load/store multiple, dual, exclusive, table branch */
		if (rn_is_pc || (first & 0xfff0) == 0xe8d0) /* tbb, tbh, ldrex and kin */
			return stays;
		if ((first & 0xfe50) == 0xe810) /* ldm, pop: into pc? (rfe stands here as well) */
			return second & 0x8000
				       ? stays
				       : (struct litifut_arm_analysis){LITIFUT_ARM_MOVES, 0, 0, 0};
		break;
	case 0x76: /* 111011x: coprocessor, VFP and NEON loads and stores */
	case 0x77:
		if ((first & 0xef00) < 0xee00 && rn_is_pc)
			return stays;
		break;
	case 0x7c: /* 1111100: single loads and stores, NEON element loads */
		if (rn_is_pc)
			return stays;
		if ((first & 0xff70) == 0xf850 && second >> 12 == 15) /* ldr pc */
			return stays;
		break;
	case 0x79: /* 11110x1: subs pc, lr; msr, hints, barriers otherwise */
	case 0x7b:
		if ((first & 0xfff0) == 0xf3d0 && (second & 0xd000) == 0x8000)
			return stays;
		if ((first & 0xfff0) == 0xf3c0 && (second & 0xd000) == 0x8000) /* bxj */
			return stays;
		break;
	default:
		break;
	}
	return (struct litifut_arm_analysis){LITIFUT_ARM_MOVES, 0, 0, 0};
}

struct litifut_arm_analysis litifut_arm_analyse(const struct litifut_arm_displaced *displaced)
{
	return displaced->length == 2
		       ? analyse_narrow((uint16_t)displaced->instruction, displaced->address)
		       : analyse_wide(displaced->instruction, displaced->address);
}

bool litifut_arm_branch_write(uint32_t address, uint32_t target, uint8_t *code)
{
	uint32_t offset = target - (address + 4);
	uint32_t s = offset >> 24 & 1;
	uint32_t j1 = !(offset >> 23 & 1) ^ s;
	uint32_t j2 = !(offset >> 22 & 1) ^ s;

	if (offset + (1u << 24) >= 1u << 25)
		return false;
	litifut_put16(false, code, (uint16_t)(0xf000 | s << 10 | (offset >> 12 & 0x3ff)));
	litifut_put16(false, code + 2,
		      (uint16_t)(0x9000 | j1 << 13 | j2 << 11 | (offset >> 1 & 0x7ff)));
	return true;
}

void litifut_arm_set_link(uint8_t *code)
{
	litifut_put16(false, code + 2, litifut_get16(false, code + 2) | 0x4000);
}

unsigned litifut_arm_filler_bytes(const uint8_t *code, uint32_t left, bool thumb)
{
	const uint16_t half = left >= 2 ? litifut_get16(false, code) : 0;
	const uint32_t word = left >= 4 ? litifut_get32(false, code) : 0;

	if (thumb)
		return half == 0xbf00 || half == 0x46c0 ? 2 : word == 0x8000f3af ? 4 : 0;
	return word == 0xe320f000 || word == 0xe1a00000 ? 4 : 0;
}
