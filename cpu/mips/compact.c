/* MIPS16 and microMIPS: just enough to walk through the code and count the
 * calls that are left alone. Both are streams of halfwords, each halfword in
 * the image's byte order, the first of a pair first.
 *
 * MIPS16 (MIPS16e ASE, MD00076): 32 bits for JAL and JALX (major opcode 00011)
 * and for anything behind an EXTEND (11110), else 16.
 * microMIPS (MD00582): 16 bits when bits 12-10 of the first halfword are 1, 2
 * or 3, else 32. */
#include "cpu/mips/mips.h"

#include "common/bytes.h"

static bool mips16_call(uint16_t half)
{
	/* JAL(X); JALR and JALRC: 11101 rx 010 00000 and 110 00000 */
	return half >> 11 == 0x03 || (half & 0xf8ff) == 0xe840 || (half & 0xf8ff) == 0xe8c0;
}

static bool mips16_is_wide(uint16_t half)
{
	return half >> 11 == 0x03 || half >> 11 == 0x1e;
}

static bool micromips_is_wide(uint16_t half)
{
	unsigned length_bits = half >> 10 & 7;

	return length_bits == 0 || length_bits > 3;
}

static bool micromips_call(uint16_t first, uint16_t second)
{
	unsigned major = first >> 10;

	if (!micromips_is_wide(first))
		return (first & 0xffc0) == 0x45c0;           /* JALR16, JALRS16 */
	if (major == 0x3d || major == 0x1d || major == 0x3c) /* JAL, JALS, JALX */
		return true;
	if (major == 0x10) /* POOL32I: BLTZAL 00001, BGEZAL 00011, BLTZALS 10001, BGEZALS 10011 */
		return (first >> 5 & 0x0d) == 0x01;
	return major == 0x00 && (second & 0xbfff) == 0x0f3c; /* JALR, JALRS */
}

unsigned litifut_mips_decode_compact(const struct cpu_context *context, const uint8_t *code,
				     size_t available, enum litifut_code_state state,
				     struct litifut_instruction *out)
{
	*out = (struct litifut_instruction){.link_register = LITIFUT_MIPS_RA, .thumb = true};
	if (available < 2)
		return 0;
	uint16_t first = litifut_get16(context->big_endian, code);
	uint16_t second = 0;
	bool wide = state == LITIFUT_CODE_MIPS16 ? mips16_is_wide(first) : micromips_is_wide(first);

	if (wide && available < 4)
		return 0;
	if (wide)
		second = litifut_get16(context->big_endian, code + 2);
	out->length = wide ? 4 : 2;
	out->word = wide ? (uint32_t)first << 16 | second : first;
	if (state == LITIFUT_CODE_MIPS16 ? mips16_call(first) : micromips_call(first, second))
		out->class = LITIFUT_CLASS_FOREIGN_CALL;
	return out->length;
}
