/* Decoding ARM code as far as calls go.
 *
 * What a newcomer needs to know. An ARM CPU runs two instruction sets, and a
 * program may mix them function by function. A32 instructions are words at
 * multiples of 4. T32 ("Thumb") instructions are one or two halfwords at
 * multiples of 2; the first halfword tells which (0b11101, 0b11110 or 0b11111
 * in its top five bits: two). Wherever an address of code is kept, in a
 * register, a pointer or a symbol, bit 0 says which set the code is in: the
 * Thumb bit. It is no part of the address.
 *
 * A call is a branch that leaves the address of the next instruction in lr
 * (r14), with the Thumb bit of the caller:
 *
 *   bl  imm    stays in the same instruction set,
 *   blx imm    always changes it ("interworking"); from T32 its target is
 *              counted from the word that the pc stands in, Align(PC, 4),
 *   blx rN     goes where bit 0 of rN says.
 *
 * The pc, when an instruction reads it, is ahead: its own address + 8 in A32,
 * + 4 in T32.
 *
 * A32 instructions carry a condition in bits 31-28; `bl<cond>` and
 * `blx<cond> rN` call only if it holds, `blx imm` uses the value 0b1111 that no
 * condition has. T32 has no room for that: an `it` instruction makes the
 * following one to four instructions conditional, the "IT block", and a call
 * can only be the last of them. Since a patched call keeps its length, its
 * place and (in A32) its condition, neither needs care here.
 *
 * Compilers put constants into the code, and nothing in the bytes tells them
 * from instructions. The ABI's mapping symbols do: $a, $t and $d mark where
 * A32 code, T32 code and data begin (AAELF32, "Mapping symbols").
 *
 * The T32 encoding of bl predates Thumb-2: it was two 16-bit instructions with
 * 11 bits of offset each, hence +-4 MB. Thumb-2 put two more bits, J1 and J2,
 * where there used to be two ones, hence +-16 MB. */
#include "rewriter/arm/arm.h"

#include <litifut/module_format.h>

#define LINK_REGISTER 14

static uint32_t bits(uint32_t value, unsigned high, unsigned low)
{
	return value >> low & ((1u << (high - low + 1)) - 1);
}

/* Takes the low `width` bits of `value` as a signed number. */
static uint32_t sign_extend(uint32_t value, unsigned width)
{
	uint32_t sign = 1u << (width - 1);

	return (value ^ sign) - sign;
}

bool litifut_arm_thumb_is_wide(uint16_t first)
{
	return first >= 0xe800;
}

static void decode_plain(uint32_t word, uint32_t address, struct litifut_instruction *out)
{
	uint32_t condition = bits(word, 31, 28);
	uint32_t offset = sign_extend(bits(word, 23, 0) << 2, 26);

	out->length = 4;
	out->word = word;
	out->conditional = condition < 0xe;
	if (condition == 0xf) {
		/* A8.8.25 BLX (immediate), encoding A2; H is bit 24. */
		if (bits(word, 27, 25) == 5) {
			out->class = LITIFUT_CLASS_CALL_DIRECT;
			out->target = (address + 8 + offset + (bits(word, 24, 24) << 1)) | 1;
		}
		return;
	}
	if (bits(word, 27, 24) == 0xb) { /* A8.8.25 BL, encoding A1 */
		out->class = LITIFUT_CLASS_CALL_DIRECT;
		out->target = address + 8 + offset;
	} else if (bits(word, 27, 24) == 0xa) { /* A8.8.18 B, encoding A1 */
		out->class = LITIFUT_CLASS_BRANCH_DIRECT;
		out->target = address + 8 + offset;
	} else if (bits(word, 27, 4) == 0x12fff3) { /* A8.8.26 BLX (register) */
		out->class = LITIFUT_CLASS_CALL_INDIRECT;
		out->target_register = (uint8_t)bits(word, 3, 0);
	} else if (bits(word, 27, 4) == 0x12fff1) { /* A8.8.27 BX */
		out->class = LITIFUT_CLASS_BRANCH_INDIRECT;
		out->target_register = (uint8_t)bits(word, 3, 0);
	}
}

static void decode_narrow(uint16_t half, uint32_t address, struct litifut_instruction *out)
{
	out->length = 2;
	out->word = half;
	if ((half & 0xff87) == 0x4780) { /* A8.8.26 BLX (register), encoding T1 */
		out->class = LITIFUT_CLASS_CALL_INDIRECT;
		out->target_register = (uint8_t)bits(half, 6, 3);
	} else if ((half & 0xff87) == 0x4700) { /* A8.8.27 BX, encoding T1 */
		out->class = LITIFUT_CLASS_BRANCH_INDIRECT;
		out->target_register = (uint8_t)bits(half, 6, 3);
	} else if ((half & 0xf800) == 0xe000) { /* A8.8.18 B, encoding T2 */
		out->class = LITIFUT_CLASS_BRANCH_DIRECT;
		out->target = (address + 4 + sign_extend(bits(half, 10, 0) << 1, 12)) | 1;
	} else if ((half & 0xf000) == 0xd000 && bits(half, 11, 8) < 0xe) { /* B, encoding T1 */
		out->class = LITIFUT_CLASS_BRANCH_DIRECT;
		out->conditional = true;
		out->target = (address + 4 + sign_extend(bits(half, 7, 0) << 1, 9)) | 1;
	} else if ((half & 0xf500) == 0xb100) { /* A8.8.29 CBNZ, CBZ */
		out->class = LITIFUT_CLASS_BRANCH_DIRECT;
		out->conditional = true;
		out->target = (address + 4 + (bits(half, 9, 9) << 6 | bits(half, 7, 3) << 1)) | 1;
	}
}

/* imm32 of B, BL and BLX, encodings T4, T1 and T2: S:I1:I2:imm10:imm11:'0'. */
static uint32_t thumb_offset(uint16_t first, uint16_t second)
{
	uint32_t s = bits(first, 10, 10);
	uint32_t i1 = !(bits(second, 13, 13) ^ s);
	uint32_t i2 = !(bits(second, 11, 11) ^ s);

	return sign_extend(s << 24 | i1 << 23 | i2 << 22 | bits(first, 9, 0) << 12 |
				   bits(second, 10, 0) << 1,
			   25);
}

static void decode_wide(uint16_t first, uint16_t second, uint32_t address,
			struct litifut_instruction *out)
{
	uint32_t pc = address + 4;

	out->length = 4;
	out->word = (uint32_t)first << 16 | second;
	if ((first & 0xf800) != 0xf000 || !(second & 0x8000))
		return;
	switch (second & 0x5000) {
	case 0x5000: /* A8.8.25 BL, encoding T1 */
		out->class = LITIFUT_CLASS_CALL_DIRECT;
		out->target = (pc + thumb_offset(first, second)) | 1;
		break;
	case 0x4000: /* BLX, encoding T2; bit 0 (H) must be 0 */
		if (second & 1)
			break;
		out->class = LITIFUT_CLASS_CALL_DIRECT;
		out->target = (pc & ~3u) + thumb_offset(first, second);
		break;
	case 0x1000: /* A8.8.18 B, encoding T4 */
		out->class = LITIFUT_CLASS_BRANCH_DIRECT;
		out->target = (pc + thumb_offset(first, second)) | 1;
		break;
	default: /* B, encoding T3: S:J2:J1:imm6:imm11:'0'; cond 111x is something else */
		if (bits(first, 9, 6) >= 0xe)
			break;
		out->class = LITIFUT_CLASS_BRANCH_DIRECT;
		out->conditional = true;
		out->target =
			(pc + sign_extend(bits(first, 10, 10) << 20 | bits(second, 11, 11) << 19 |
						  bits(second, 13, 13) << 18 |
						  bits(first, 5, 0) << 12 |
						  bits(second, 10, 0) << 1,
					  21)) |
			1;
	}
}

unsigned litifut_arm_decode(const struct litifut_arch_context *context, const uint8_t *code,
			    size_t available, uint32_t address, enum litifut_code_state state,
			    struct litifut_instruction *out)
{
	(void)context; /* ARM code is little-endian even in BE8 images, which we refuse anyway */
	*out = (struct litifut_instruction){.link_register = LINK_REGISTER,
					    .thumb = state == LITIFUT_CODE_THUMB};
	if (state == LITIFUT_CODE_PLAIN) {
		if (available < 4)
			return 0;
		decode_plain(litifut_get32(false, code), address, out);
		return out->length;
	}
	if (available < 2)
		return 0;
	uint16_t first = litifut_get16(false, code);

	if (!litifut_arm_thumb_is_wide(first)) {
		decode_narrow(first, address, out);
		return out->length;
	}
	if (available < 4)
		return 0;
	decode_wide(first, litifut_get16(false, code + 2), address, out);
	return out->length;
}
