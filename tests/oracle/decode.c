#include "tests/oracle/decode.h"

#include <string.h>

static uint32_t sign_extend(uint32_t value, unsigned bits)
{
	uint32_t sign = 1u << (bits - 1);

	return (value ^ sign) - sign;
}

/* Does this A32 instruction jump, by branch, load or arithmetic? */
static bool a32_jumps(uint32_t word)
{
	bool to_pc = (word >> 12 & 15) == 15;
	unsigned operation = word >> 21 & 15;

	if (word >> 28 == 15)
		return false;
	switch (word >> 25 & 7) {
	case 0: /* arithmetic with a register, but for multiplications and the like; bx */
		if ((word & 0x0ffffff0) == 0x012fff10)
			return true;
		return to_pc && (word & 0x90) != 0x90 && (operation < 8 || operation > 11);
	case 1: /* with a constant */
		return to_pc && (operation < 8 || operation > 11);
	case 2: /* ldr */
	case 3:
		return to_pc && word & 1u << 20 && ((word >> 25 & 1) == 0 || !(word & 16));
	case 4: /* ldm */
		return word & 1u << 20 && word & 1u << 15;
	default: /* b */
		return (word >> 24 & 15) == 10;
	}
}

bool oracle_decode_a32(uint32_t address, uint32_t word, uint32_t before, struct oracle_call *call)
{
	uint32_t condition = word >> 28;
	uint32_t target;

	if (condition == 0xf) {
		/* blx imm: bits 27-25 are 101, bit 24 is the halfword of the target */
		if ((word >> 25 & 7) != 5)
			return false;
		target = address + 8 + (sign_extend(word & 0xffffff, 24) << 2) +
			 ((word >> 24 & 1) << 1);
	} else if ((word >> 24 & 0xf) == 0xb) {
		target = address + 8 + (sign_extend(word & 0xffffff, 24) << 2);
	} else if ((word & 0x0ffffff0) == 0x012fff30) {
		target = ORACLE_UNKNOWN;
	} else if ((before & 0x0fffffff) == 0x01a0e00f && a32_jumps(word)) {
		target = ORACLE_UNKNOWN;
	} else {
		return false;
	}
	call->target = target;
	call->return_address = address + 4;
	return true;
}

bool oracle_decode_t32(uint32_t address, uint16_t first, uint16_t second, unsigned length,
		       struct oracle_call *call)
{
	uint32_t sign, i1, i2, offset;

	if (length == 2) {
		if ((first & 0xff87) != 0x4780)
			return false;
		call->target = ORACLE_UNKNOWN;
		call->return_address = address + 2;
		return true;
	}
	if ((first & 0xf800) != 0xf000 || (second & 0xc000) != 0xc000)
		return false;
	/* I1 and I2 are stored inverted when they differ from the sign */
	sign = first >> 10 & 1;
	i1 = !((second >> 13 & 1) ^ sign);
	i2 = !((second >> 11 & 1) ^ sign);
	offset = sign_extend(sign << 24 | i1 << 23 | i2 << 22 | (first & 0x3ffu) << 12 |
				     (second & 0x7ffu) << 1,
			     25);
	if (second & 0x1000) {
		call->target = address + 4 + offset;
	} else {
		if (second & 1)
			return false;
		call->target = ((address + 4) & ~3u) + offset;
	}
	call->return_address = address + 4;
	return true;
}

bool oracle_text_is_call(const char *text)
{
	size_t condition;

	if (strncmp(text, "bl", 2) != 0)
		return false;
	text += text[2] == 'x' ? 3 : 2;
	condition = strcspn(text, " \t.");
	return condition == 0 || condition == 2;
}

bool oracle_decode_mips(uint32_t address, uint32_t word, struct oracle_call *call)
{
	uint32_t opcode = word >> 26;
	uint32_t rt = word >> 16 & 0x1f;

	if (opcode == 3) {
		call->target = ((address + 4) & 0xf0000000u) | (word & 0x03ffffffu) << 2;
	} else if (opcode == 1 && rt >= 0x10 && rt <= 0x13) {
		/* bltzal, bgezal (bal when it tests $zero), and the likely forms */
		call->target = address + 4 + (sign_extend(word & 0xffff, 16) << 2);
	} else if (opcode == 0 && (word & 0x3f) == 9 && (word >> 11 & 0x1f) == 31) {
		call->target = ORACLE_UNKNOWN;
	} else {
		return false;
	}
	call->return_address = address + 8;
	return true;
}

bool oracle_has_delay_slot(uint32_t word)
{
	uint32_t major = word >> 26;

	/* bc1f, bc1t and those of the second coprocessor */
	if ((major == 0x11 || major == 0x12) && (word >> 21 & 0x1f) == 8)
		return true;
	/* jr, jalr; REGIMM; j to bgtz; the likely forms; jalx */
	return (major == 0 && (word & 0x3e) == 8) || (major >= 1 && major <= 7) ||
	       (major >= 0x14 && major <= 0x17) || major == 0x1d;
}
