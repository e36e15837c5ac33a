/* Encodings: MD00086, tables A.2 to A.22. */
#include "cpu/mips/uses.h"

#include "cpu/mips/mips.h"

static struct litifut_mips_uses uses(uint32_t reads, uint32_t writes)
{
	return (struct litifut_mips_uses){reads & LITIFUT_MIPS_USES_ALL,
					  writes & LITIFUT_MIPS_USES_ALL};
}

static struct litifut_mips_uses unknown(void)
{
	return uses(LITIFUT_MIPS_USES_ALL, 0);
}

/* The register whose number stands at this bit of the word. */
static uint32_t at(uint32_t word, unsigned bit)
{
	return 1u << (word >> bit & 31);
}

static uint32_t rs(uint32_t word)
{
	return at(word, 21);
}

static uint32_t rt(uint32_t word)
{
	return at(word, 16);
}

static uint32_t rd(uint32_t word)
{
	return at(word, 11);
}

static struct litifut_mips_uses special(uint32_t word)
{
	switch (word & 0x3f) {
	case 0x00: /* sll, srl or rotr, sra */
	case 0x02:
	case 0x03:
		return uses(rt(word), rd(word));
	case 0x04: /* the same by a register; addu to nor, slt, sltu; add and sub */
	case 0x06:
	case 0x07:
	case 0x20:
	case 0x21:
	case 0x22:
	case 0x23:
	case 0x24:
	case 0x25:
	case 0x26:
	case 0x27:
	case 0x2a:
	case 0x2b:
		return uses(rs(word) | rt(word), rd(word));
	case 0x01: /* movf, movt */
		return uses(rs(word) | rd(word), 0);
	case 0x0a: /* movz, movn */
	case 0x0b:
		return uses(rs(word) | rt(word) | rd(word), 0);
	case 0x08: /* jr */
	case 0x11: /* mthi, mtlo */
	case 0x13:
		return uses(rs(word), 0);
	case 0x09: /* jalr */
		return uses(rs(word), rd(word));
	case 0x0f: /* sync */
		return uses(0, 0);
	case 0x10: /* mfhi, mflo */
	case 0x12:
		return uses(0, rd(word));
	case 0x18: /* mult to divu */
	case 0x19:
	case 0x1a:
	case 0x1b:
	case 0x30: /* tge to teq, tne */
	case 0x31:
	case 0x32:
	case 0x33:
	case 0x34:
	case 0x36:
		return uses(rs(word) | rt(word), 0);
	default: /* syscall, break */
		return unknown();
	}
}

static struct litifut_mips_uses regimm(uint32_t word)
{
	const unsigned operation = word >> 16 & 31;

	if (operation <= 0x03 || (operation >= 0x08 && operation <= 0x0e && operation != 0x0d))
		return uses(rs(word), 0);           /* bltz to bgezl, tgei to tnei */
	if (operation >= 0x10 && operation <= 0x13) /* with a link */
		return uses(rs(word), 1u << LITIFUT_MIPS_RA);
	return operation == 0x1f ? uses(rs(word), 0) : unknown(); /* synci */
}

static struct litifut_mips_uses special2(uint32_t word)
{
	switch (word & 0x3f) {
	case 0x00: /* madd, maddu, msub, msubu: where rd is 0 they are not of the DSP */
	case 0x01:
	case 0x04:
	case 0x05:
		return rd(word) == 1 ? uses(rs(word) | rt(word), 0) : unknown();
	case 0x02: /* mul */
		return uses(rs(word) | rt(word), rd(word));
	case 0x20: /* clz, clo */
	case 0x21:
		return uses(rs(word), rd(word));
	default:
		return unknown();
	}
}

static struct litifut_mips_uses special3(uint32_t word)
{
	switch (word & 0x3f) {
	case 0x00: /* ext */
		return uses(rs(word), rt(word));
	case 0x04: /* ins */
		return uses(rs(word) | rt(word), rt(word));
	case 0x20: /* wsbh, seb, seh */
		return (word >> 6 & 31) == 0x02 || (word >> 6 & 31) == 0x10 ||
				       (word >> 6 & 31) == 0x18
			       ? uses(rt(word), rd(word))
			       : unknown();
	case 0x3b: /* rdhwr */
		return uses(0, rt(word));
	default:
		return unknown();
	}
}

static struct litifut_mips_uses fpu(uint32_t word)
{
	const unsigned operation = word >> 21 & 31;
	const unsigned function = word & 0x3f;

	switch (operation) {
	case 0x00: /* mfc1, cfc1, mfhc1 */
	case 0x02:
	case 0x03:
		return uses(0, rt(word));
	case 0x04: /* mtc1, ctc1, mthc1 */
	case 0x06:
	case 0x07:
		return uses(rt(word), 0);
	case 0x08: /* bc1f, bc1t and the likely forms */
		return uses(0, 0);
	case 0x10: /* s, d, w, l, ps; movz and movn test a general register */
	case 0x11:
	case 0x14:
	case 0x15:
	case 0x16:
		return uses(function == 0x12 || function == 0x13 ? rt(word) : 0, 0);
	default:
		return unknown();
	}
}

/* COP1X: accesses by two registers, and sums of products */
static struct litifut_mips_uses fpu_more(uint32_t word)
{
	const unsigned function = word & 0x3f;

	if (function == 0x1e) /* alnv.ps */
		return uses(rs(word), 0);
	return function < 0x10 ? uses(rs(word) | rt(word), 0) : uses(0, 0);
}

struct litifut_mips_uses litifut_mips_uses(uint32_t word)
{
	switch (word >> 26) {
	case 0x00:
		return special(word);
	case 0x01:
		return regimm(word);
	case 0x02: /* j */
		return uses(0, 0);
	case 0x03: /* jal */
		return uses(0, 1u << LITIFUT_MIPS_RA);
	case 0x04: /* beq, bne, and the likely forms */
	case 0x05:
	case 0x14:
	case 0x15:
		return uses(rs(word) | rt(word), 0);
	case 0x06: /* blez, bgtz, and the likely forms */
	case 0x07:
	case 0x16:
	case 0x17:
		return (word >> 16 & 31) == 0 ? uses(rs(word), 0) : unknown();
	case 0x08: /* addi to xori */
	case 0x09:
	case 0x0a:
	case 0x0b:
	case 0x0c:
	case 0x0d:
	case 0x0e:
		return uses(rs(word), rt(word));
	case 0x0f: /* lui */
		return (word >> 21 & 31) == 0 ? uses(0, rt(word)) : unknown();
	case 0x11:
		return fpu(word);
	case 0x13:
		return fpu_more(word);
	case 0x1c:
		return special2(word);
	case 0x1f:
		return special3(word);
	case 0x20: /* lb, lh, lw, lbu, lhu, ll */
	case 0x21:
	case 0x23:
	case 0x24:
	case 0x25:
	case 0x30:
		return uses(rs(word), rt(word));
	case 0x22: /* lwl, lwr: a part stays as it was */
	case 0x26:
		return uses(rs(word) | rt(word), 0);
	case 0x28: /* sb, sh, swl, sw, swr */
	case 0x29:
	case 0x2a:
	case 0x2b:
	case 0x2e:
		return uses(rs(word) | rt(word), 0);
	case 0x38: /* sc */
		return uses(rs(word) | rt(word), rt(word));
	case 0x31: /* lwc1, pref, ldc1, swc1, sdc1 */
	case 0x33:
	case 0x35:
	case 0x39:
	case 0x3d:
		return uses(rs(word), 0);
	default:
		return unknown();
	}
}
