/* Encodings: DDI 0406C A6.2 and A6.3 (T32), A5 (A32), A7 (VFP and Advanced SIMD). Whatever is not
 * in a table of those reads everything, and so does what is rare. A flag counts as written if it is
 * whatever the operands are: a shift by a register leaves C where it is by 0.
 *
 * More than 500 lines in one file, because T32 and A32 share the instructions of the coprocessors
 * and what is said here of all encodings. */
#include "cpu/arm/uses.h"

#include "cpu/arm/arm.h"

#define SP 13u
#define LR 14u
#define PC 15u

#define NZ LITIFUT_ARM_USES_NZ
#define C LITIFUT_ARM_USES_C
#define V LITIFUT_ARM_USES_V
#define FLAGS LITIFUT_ARM_USES_FLAGS

static struct litifut_arm_uses uses(uint32_t reads, uint32_t writes)
{
	return (struct litifut_arm_uses){reads & LITIFUT_ARM_USES_ALL & ~(1u << PC),
					 writes & ~(1u << PC)};
}

static struct litifut_arm_uses unknown(void)
{
	return (struct litifut_arm_uses){LITIFUT_ARM_USES_ALL, 0};
}

/* The register in the four bits from `shift` on. */
static uint32_t at(uint32_t word, unsigned shift)
{
	return 1u << (word >> shift & 15);
}

static uint32_t low(uint32_t half, unsigned shift)
{
	return 1u << (half >> shift & 7);
}

static uint32_t condition_reads(uint32_t condition)
{
	static const uint32_t reads[] = {NZ, C, NZ, V, C | NZ, NZ | V, NZ | V, 0};

	return reads[condition >> 1 & 7];
}

/* 010000: data processing between low registers */
static struct litifut_arm_uses narrow_data(uint32_t half)
{
	const uint32_t to = low(half, 0);
	const uint32_t from = low(half, 3);

	switch (half >> 6 & 15) {
	case 5: /* adc, sbc */
	case 6:
		return uses(to | from | C, to | FLAGS);
	case 8: /* tst */
		return uses(to | from, NZ);
	case 9: /* rsb from 0 */
		return uses(from, to | FLAGS);
	case 10: /* cmp, cmn */
	case 11:
		return uses(to | from, FLAGS);
	case 15: /* mvn */
		return uses(from, to | NZ);
	default: /* and, eor, shifts, orr, mul, bic */
		return uses(to | from, to | NZ);
	}
}

/* 010001: any registers */
static struct litifut_arm_uses narrow_any(uint32_t half)
{
	const unsigned number = (half & 7) | (half >> 4 & 8);
	const uint32_t to = 1u << number;
	const uint32_t from = at(half, 3);

	switch (half >> 8 & 3) {
	case 0: /* add */
		return number == PC ? unknown() : uses(to | from, to);
	case 1: /* cmp */
		return uses(to | from, FLAGS);
	case 2: /* mov */
		return number == PC ? unknown() : uses(from, to);
	default: /* blx; bx goes elsewhere */
		return half & 0x80 ? uses(from, 1u << LR) : unknown();
	}
}

/* 1011: whatever is left */
static struct litifut_arm_uses narrow_other(uint32_t half)
{
	const uint32_t list = half & 0xff;

	switch (half >> 8 & 15) {
	case 0: /* add, sub of sp */
		return uses(1u << SP, 1u << SP);
	case 1: /* cbz, cbnz */
	case 3:
	case 9:
	case 11:
		return uses(low(half, 0), 0);
	case 2: /* extensions */
		return uses(low(half, 3), low(half, 0));
	case 4: /* push */
		return uses(list | 1u << SP, 1u << SP);
	case 5:
		return uses(list | 1u << LR | 1u << SP, 1u << SP);
	case 10: /* rev */
		return (half >> 6 & 3) == 2 ? unknown() : uses(low(half, 3), low(half, 0));
	case 12: /* pop; with the pc it goes elsewhere */
		return uses(1u << SP, list | 1u << SP);
	case 15: /* hints; an `it` changes nothing itself */
		return half & 15 || half == 0xbf00 ? uses(0, 0) : unknown();
	default:
		return unknown();
	}
}

static struct litifut_arm_uses narrow(uint32_t half)
{
	const uint32_t to = low(half, 0);
	const uint32_t from = low(half, 3);
	const uint32_t high = low(half, 8);

	switch (half >> 11) {
	case 0x00: /* lsl; by 0 it is mov */
		return uses(from, to | NZ | (half >> 6 & 31 ? C : 0));
	case 0x01: /* lsr, asr by 1 to 32 */
	case 0x02:
		return uses(from, to | NZ | C);
	case 0x03: /* add, sub */
		return uses(from | (half & 0x400 ? 0 : low(half, 6)), to | FLAGS);
	case 0x04: /* mov */
		return uses(0, high | NZ);
	case 0x05: /* cmp */
		return uses(high, FLAGS);
	case 0x06: /* add, sub */
	case 0x07:
		return uses(high, high | FLAGS);
	case 0x08:
		return half & 0x400 ? narrow_any(half) : narrow_data(half);
	case 0x09: /* ldr from the pc, */
	case 0x13: /* and from sp; adr; add of sp */
	case 0x14:
	case 0x15:
		return uses(1u << SP, high);
	case 0x12: /* str to sp */
		return uses(1u << SP | high, 0);
	case 0x0a: /* str, strh, strb, ldrsb; ldr, ldrh, ldrb, ldrsh */
		return (half >> 9 & 3) == 3 ? uses(from | low(half, 6), to)
					    : uses(from | low(half, 6) | to, 0);
	case 0x0b:
		return uses(from | low(half, 6), to);
	case 0x0c: /* str, strb, strh, by a number */
	case 0x0e:
	case 0x10:
		return uses(from | to, 0);
	case 0x0d:
	case 0x0f:
	case 0x11:
		return uses(from, to);
	case 0x16:
	case 0x17:
		return narrow_other(half);
	case 0x18: /* stm */
		return uses(high | (half & 0xff), 0);
	case 0x19: /* ldm */
		return uses(high, half & 0xff);
	case 0x1a: /* b with a condition; udf, svc */
	case 0x1b:
		return (half >> 8 & 15) < 14 ? uses(condition_reads(half >> 8), 0) : unknown();
	case 0x1c: /* b */
		return uses(0, 0);
	default:
		return unknown();
	}
}

/* The flags that an operation of T32 code with S changes; the carry of a shift is not counted. */
static uint32_t wide_flags(uint32_t word)
{
	return !(word >> 20 & 1) ? 0 : (word >> 21 & 15) >= 8 ? FLAGS : NZ;
}

/* In the place of orr with S, v8.1-M: csel, csinc, csinv, csneg; shifts of pairs are left out. */
static struct litifut_arm_uses selection(uint32_t word)
{
	return word & 0x8000
		       ? uses(at(word, 16) | at(word, 0) | condition_reads(word >> 4), at(word, 8))
		       : unknown();
}

/* and, bic, orr, orn, eor, add, adc, sbc, sub, rsb, and the comparisons among them; `operand` is
 * what the second one reads */
static struct litifut_arm_uses wide_data(uint32_t word, uint32_t operand)
{
	const unsigned operation = word >> 21 & 15;
	const bool compares = (word >> 8 & 15) == PC;
	uint32_t reads = at(word, 16) | operand;

	switch (operation) {
	case 0:
	case 4:
	case 8:
	case 13:
		if (compares)
			return word >> 20 & 1 ? uses(reads, wide_flags(word)) : unknown();
		break;
	case 10:
	case 11:
		reads |= C;
		break;
	case 1:
	case 2:
	case 3:
	case 14:
		break;
	default: /* pkh, and what is not there */
		return unknown();
	}
	return compares ? unknown() : uses(reads, at(word, 8) | wide_flags(word));
}

/* 11110, bit 25: numbers as they are */
static struct litifut_arm_uses wide_number(uint32_t word)
{
	switch (word >> 20 & 31) {
	case 0: /* addw, subw */
	case 10:
	case 16: /* ssat, sbfx, usat, ubfx */
	case 18:
	case 20:
	case 24:
	case 26:
	case 28:
		return uses(at(word, 16), at(word, 8));
	case 4: /* movw */
		return uses(0, at(word, 8));
	case 12: /* movt */
		return uses(at(word, 8), at(word, 8));
	case 22: /* bfi, bfc */
		return uses(at(word, 16) | at(word, 8), at(word, 8));
	default:
		return unknown();
	}
}

/* 11110: numbers, branches */
static struct litifut_arm_uses wide_immediate(uint32_t word)
{
	if (word & 0x8000) {
		if (litifut_arm_ends_loop(word))
			return uses(1u << LR, 1u << LR);
		if (litifut_arm_begins_loop(word))
			return uses(at(word, 16), 1u << LR);
		if ((word & 0xd001) == 0xc001) /* dls and the like, vctp */
			return unknown();
		if (word & 0x4000) /* bl, blx */
			return uses(0, 1u << LR);
		if (word & 0x1000) /* b */
			return uses(0, 0);
		return (word >> 22 & 15) < 14 ? uses(condition_reads(word >> 22), 0) : unknown();
	}
	return word >> 25 & 1 ? wide_number(word) : wide_data(word, 0);
}

/* 1110100: multiple and pairs; exclusives and tables are left out */
static struct litifut_arm_uses wide_multiple(uint32_t word)
{
	const bool load = word >> 20 & 1;
	const uint32_t base = at(word, 16);

	if (!(word & 1u << 22)) {
		const unsigned operation = word >> 23 & 3;

		if ((operation != 1 && operation != 2) || word & 0xa000)
			return unknown();
		return load ? uses(base, word & 0x5fff) : uses(base | (word & 0x5fff), 0);
	}
	if (!(word & 0x01200000))
		return unknown();
	return load ? uses(base, at(word, 12) | at(word, 8))
		    : uses(base | at(word, 12) | at(word, 8), 0);
}

/* 1111100: loads and stores of one */
static struct litifut_arm_uses wide_single(uint32_t word)
{
	const bool load = word >> 20 & 1;
	const uint32_t reg = at(word, 12);
	uint32_t reads = at(word, 16) | (load ? 0 : reg);

	/* vld1 and the like; ldr pc, preloads; what is not there */
	if ((word & 0xff100000) == 0xf9000000 || (word >> 12 & 15) == PC || (word >> 21 & 3) == 3)
		return unknown();
	if (!load && (word >> 24 & 1 || (word >> 16 & 15) == PC))
		return unknown();
	if (!(word & 1u << 23) && (word >> 16 & 15) != PC) {
		if (!(word & 0xfc0))
			reads |= at(word, 0);
		else if (!(word & 0x800) || !(word & 0x500))
			return unknown();
	}
	return uses(reads, load ? reg : 0);
}

/* 1111101: registers, multiplications */
static struct litifut_arm_uses wide_registers(uint32_t word)
{
	const uint32_t both = at(word, 16) | at(word, 0);
	const uint32_t to = at(word, 8);
	const uint32_t pair = at(word, 12) | to;
	const unsigned detail = word >> 4 & 15;

	if ((word & 0xff80f0f0) == 0xfa00f000) /* shifts */
		return uses(both, to | (word >> 20 & 1 ? NZ : 0));
	if ((word & 0xff80f0c0) == 0xfa00f080) /* extensions */
		return (word >> 20 & 7) < 6 ? uses(both, to) : unknown();
	if ((word & 0xfff0f0c0) == 0xfa90f080 || (word & 0xfff0f0f0) == 0xfab0f080)
		return uses(both, to);         /* rev, rbit, clz */
	if ((word & 0xff8000c0) == 0xfb000000) /* up to 32 bits */
		return uses(both | at(word, 12), to);
	if ((word & 0xff800000) != 0xfb800000)
		return unknown();
	switch (word >> 20 & 7) {
	case 0: /* smull, umull */
	case 2:
		return detail ? unknown() : uses(both, pair);
	case 1: /* sdiv, udiv */
	case 3:
		return detail == 15 && (word >> 12 & 15) == 15 ? uses(both, to) : unknown();
	case 4: /* with a sum */
	case 6:
		return uses(both | pair, pair);
	default:
		return unknown();
	}
}

/* VFP and Advanced SIMD, without the condition; and mrc */
static struct litifut_arm_uses coprocessor(uint32_t word)
{
	const unsigned number = word >> 8 & 15;
	const bool load = word >> 20 & 1;

	if ((word & 0x0f100010) == 0x0e100010 && number == 15)
		return (word >> 12 & 15) == PC ? unknown() : uses(0, at(word, 12));
	if (number != 10 && number != 11)
		return unknown();
	if ((word & 0x0fe00000) == 0x0c400000) /* vmov of two */
		return load ? uses(0, at(word, 12) | at(word, 16))
			    : uses(at(word, 12) | at(word, 16), 0);
	if ((word & 0x0e000000) == 0x0c000000)
		return uses(at(word, 16), 0);
	if ((word & 0x0f000000) != 0x0e000000)
		return unknown();
	if (!(word & 0x10))
		return uses(0, 0);
	if ((word & 0x0fffffff) == 0x0ef1fa10) /* vmrs of the flags */
		return uses(0, FLAGS);
	if ((word >> 12 & 15) == PC)
		return unknown();
	return load ? uses(0, at(word, 12)) : uses(at(word, 12), 0);
}

static struct litifut_arm_uses wide(uint32_t word)
{
	switch (word >> 25) {
	case 0x74:
		return wide_multiple(word);
	case 0x75:
		if ((word & 0xfff00000) == 0xea500000 && (word & 0x8000 || (word & 0xd) == 0xd))
			return selection(word);
		return wide_data(word, at(word, 0) | ((word & 0x70f0) == 0x30 ? C : 0));
	case 0x76:
		return coprocessor(word & 0x0fffffff);
	case 0x77:
		return word & 1u << 24 ? uses(0, 0) : coprocessor(word & 0x0fffffff);
	case 0x78:
	case 0x79:
	case 0x7a:
	case 0x7b:
		return wide_immediate(word);
	case 0x7c:
		return wide_single(word);
	case 0x7d:
		return wide_registers(word);
	case 0x7f:
		return word & 1u << 24 ? uses(0, 0) : unknown();
	default:
		return unknown();
	}
}

struct litifut_arm_uses litifut_arm_thumb_uses(uint32_t word, unsigned length, bool always)
{
	struct litifut_arm_uses found = length == 2 ? narrow(word) : wide(word);

	if (!always) {
		found.reads |= FLAGS;
		found.writes = 0;
	}
	return found;
}

/* Multiplications: their fields are not where those of other instructions are. */
static struct litifut_arm_uses plain_multiply(uint32_t word)
{
	const uint32_t both = at(word, 0) | at(word, 8);
	const uint32_t pair = at(word, 12) | at(word, 16);
	const uint32_t flags = word >> 20 & 1 ? NZ : 0;

	switch (word >> 21 & 7) {
	case 0:
		return uses(both, at(word, 16) | flags);
	case 1: /* mla */
		return uses(both | at(word, 12), at(word, 16) | flags);
	case 3: /* mls */
		return uses(both | at(word, 12), at(word, 16));
	case 4: /* umull, smull */
	case 6:
		return uses(both, pair | flags);
	default: /* with a sum */
		return uses(both | pair, pair | flags);
	}
}

/* Halfwords, signed bytes and pairs */
static struct litifut_arm_uses plain_extra(uint32_t word)
{
	const unsigned kind = word >> 5 & 3;
	const bool pair = kind != 1 && !(word >> 20 & 1);
	const bool load = word >> 20 & 1 || (pair && kind == 2);
	const uint32_t reg = at(word, 12) | (pair ? at(word, 12) << 1 : 0);
	const uint32_t address = at(word, 16) | (word >> 22 & 1 ? 0 : at(word, 0));

	if ((word >> 12 & 15) == PC || (pair && (word >> 12 & 1)))
		return unknown();
	return load ? uses(address, reg) : uses(address | reg, 0);
}

/* 00010xx0 and 00110xx0: what stands in the place of comparisons without S */
static struct litifut_arm_uses plain_miscellaneous(uint32_t word)
{
	const uint32_t both = at(word, 0) | at(word, 8);

	if ((word & 0x0ff00000) == 0x03000000) /* movw */
		return uses(0, at(word, 12));
	if ((word & 0x0ff00000) == 0x03400000) /* movt */
		return uses(at(word, 12), at(word, 12));
	if ((word & 0x0fffffff) == 0x0320f000) /* nop */
		return uses(0, 0);
	if ((word & 0x0ffffff0) == 0x012fff30) /* blx */
		return uses(at(word, 0), 1u << LR);
	if ((word & 0x0fff0ff0) == 0x016f0f10) /* clz */
		return uses(at(word, 0), at(word, 12));
	if ((word & 0x0ff00090) == 0x01600080) /* smulxy */
		return uses(both, at(word, 16));
	if ((word & 0x0ff00090) == 0x01000080) /* smlaxy */
		return uses(both | at(word, 12), at(word, 16));
	return unknown();
}

static struct litifut_arm_uses plain_data(uint32_t word)
{
	const unsigned operation = word >> 21 & 15;
	const bool by_register = !(word >> 25 & 1);
	const bool compares = operation >= 8 && operation <= 11;
	const bool moves = operation == 13 || operation == 15;
	const bool sums = (operation >= 2 && operation <= 7) || operation == 10 || operation == 11;
	const uint32_t flags = !(word >> 20 & 1) ? 0 : sums ? FLAGS : NZ;
	uint32_t reads = moves ? 0 : at(word, 16);

	if (by_register && (word & 0x90) == 0x90) {
		if (word & 0x60)
			return plain_extra(word);
		return word >> 24 & 1 ? unknown() : plain_multiply(word); /* exclusives */
	}
	if (compares && !(word >> 20 & 1))
		return plain_miscellaneous(word);
	if (by_register)
		reads |= at(word, 0) | (word >> 4 & 1 ? at(word, 8) : 0);
	if ((operation >= 5 && operation <= 7) || (by_register && (word & 0xff0) == 0x60)) /* rrx */
		reads |= C;
	if (compares)
		return uses(reads, flags);
	return (word >> 12 & 15) == PC ? unknown() : uses(reads, at(word, 12) | flags);
}

static struct litifut_arm_uses plain_single(uint32_t word)
{
	const bool load = word >> 20 & 1;
	const uint32_t reads = at(word, 16) | (word >> 25 & 1 ? at(word, 0) : 0);

	if ((word >> 12 & 15) == PC)
		return unknown();
	return load ? uses(reads, at(word, 12)) : uses(reads | at(word, 12), 0);
}

static struct litifut_arm_uses plain_media(uint32_t word)
{
	const uint32_t to = at(word, 12);

	if ((word & 0x0fa00070) == 0x07a00050) /* sbfx, ubfx */
		return uses(at(word, 0), to);
	if ((word & 0x0fe00070) == 0x07c00010) /* bfi, bfc */
		return uses(at(word, 0) | to, to);
	if ((word & 0x0f8003f0) == 0x06800070) /* extensions, with a sum or without */
		return uses(at(word, 16) | at(word, 0), to);
	if ((word & 0x0fbf0f70) == 0x06bf0f30) /* rev, rev16, rbit, revsh */
		return uses(at(word, 0), to);
	if ((word & 0x0fd0f0f0) == 0x0710f010) /* sdiv, udiv */
		return uses(at(word, 0) | at(word, 8), at(word, 16));
	return unknown();
}

static struct litifut_arm_uses plain_always(uint32_t word)
{
	switch (word >> 25 & 7) {
	case 0:
	case 1:
		return plain_data(word);
	case 2:
		return plain_single(word);
	case 3:
		return word >> 4 & 1 ? plain_media(word) : plain_single(word);
	case 4:
		if (word >> 22 & 1 || word & 0x8000)
			return unknown();
		return word >> 20 & 1 ? uses(at(word, 16), word & 0x7fff)
				      : uses(at(word, 16) | (word & 0x7fff), 0);
	case 5: /* b, bl */
		return uses(0, word >> 24 & 1 ? 1u << LR : 0);
	default:
		return coprocessor(word & 0x0fffffff);
	}
}

struct litifut_arm_uses litifut_arm_plain_uses(uint32_t word)
{
	const uint32_t condition = word >> 28;
	struct litifut_arm_uses found;

	if (condition == 15) {
		if ((word & 0xfe000000) == 0xfa000000) /* blx */
			return uses(0, 1u << LR);
		return (word & 0xfe000000) == 0xf2000000 ? uses(0, 0) : unknown();
	}
	found = plain_always(word);
	if (condition != 14) {
		found.reads |= condition_reads(condition);
		found.writes = 0;
	}
	return found;
}
