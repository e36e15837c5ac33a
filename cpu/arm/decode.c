/* Decoding ARM code as far as calls go.
 *
 * What a newcomer needs to know. An ARM CPU runs two instruction sets, and a
 * program may mix them function by function. A32 instructions are words at
 * multiples of 4. T32 ("Thumb") instructions are one or two halfwords at
 * multiples of 2; the first halfword shows which (0b11101, 0b11110 or 0b11111
 * in its top five bits: two). Wherever an address of code is kept, in a
 * register, a pointer or a symbol, bit 0 says which set the code is in: the
 * Thumb bit. It is not a part of the address.
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
 * ARMv4 has no blx. There a call through a pointer is two A32 instructions: `mov
 * lr, pc` leaves the address of the instruction after the next one in lr (see
 * above for what the pc reads as), and the next one jumps: `bx rN`, `mov pc, rN`,
 * `ldr pc, [...]`. Hand-written code calls helpers of the kernel in this way, at
 * constant addresses in the last page: `mov lr, pc; sub pc, r3, #63`.
 *
 * Compilers put constants into the code, and nothing in the bytes distinguishes them
 * from instructions. The ABI's mapping symbols do: $a, $t and $d mark where
 * A32 code, T32 code and data begin (AAELF32, "Mapping symbols").
 *
 * The T32 encoding of bl predates Thumb-2: it was two 16-bit instructions with
 * 11 bits of offset each, hence +-4 MB. Thumb-2 put two more bits, J1 and J2,
 * where there used to be two ones, hence +-16 MB. */
#include "cpu/arm/arm.h"

#include <litifut/module_format.h>

#include "common/bytes.h"

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

/* imm32 of an A32 data-processing instruction (A5.2.4). */
static uint32_t rotated_immediate(uint32_t word)
{
	unsigned by = bits(word, 11, 8) * 2;
	uint32_t value = word & 0xff;

	return by ? value >> by | value << (32 - by) : value;
}

/* A32 instructions other than branches that write the pc. What the tracer can do
 * in their place is in litifut_arm_computed(), tracer/arm/next_pc.h. */
static void decode_pc_writer(uint32_t word, struct litifut_instruction *out)
{
	bool immediate = bits(word, 27, 25) == 1;
	bool shifted = bits(word, 27, 25) == 0 && !bits(word, 4, 4);
	unsigned base = bits(word, 19, 16);
	unsigned offset = bits(word, 3, 0);
	unsigned operation = bits(word, 24, 21);

	if (bits(word, 27, 26) == 1 && bits(word, 20, 20) && bits(word, 15, 12) == 15 &&
	    (!bits(word, 25, 25) || !bits(word, 4, 4))) { /* A8.8.63 LDR to the pc */
		out->class = LITIFUT_CLASS_BRANCH_COMPUTED;
		/* neither ldrb nor ldrt, and nothing that writes the base register back */
		out->inexact = bits(word, 24, 24) != 1 || word & 0x00600000;
		shifted = bits(word, 25, 25);
	} else if (bits(word, 27, 25) == 4 && bits(word, 20, 20) && bits(word, 15, 15) &&
		   base != 13) { /* LDM with the pc; from the stack it is a return */
		out->class = LITIFUT_CLASS_BRANCH_COMPUTED;
		out->inexact = true;
	} else if ((immediate || shifted) && bits(word, 15, 12) == 15 && !bits(word, 20, 20) &&
		   (operation < 8 || operation >= 12)) { /* A5.2.1; 8 to 11 only compare */
		out->class = LITIFUT_CLASS_BRANCH_COMPUTED;
		out->inexact = operation != 2 && operation != 4; /* sub, add */
	} else {
		return;
	}
	out->target_register = (uint8_t)base;
	if (shifted && (bits(word, 6, 5) || offset >= 13))
		out->inexact = true;
	if (base >= 13 && base != 15)
		out->inexact = true;
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
	} else if (bits(word, 27, 4) == 0x1a0f00) { /* MOV pc, rN */
		out->class = LITIFUT_CLASS_BRANCH_INDIRECT;
		out->target_register = (uint8_t)bits(word, 3, 0);
	} else if (bits(word, 27, 0) == 0x1a0e00f) { /* MOV lr, pc */
		out->link = address + 8;
	} else if (bits(word, 27, 12) == 0x28fe) { /* ADD lr, pc, #n */
		out->link = address + 8 + rotated_immediate(word);
	} else {
		decode_pc_writer(word, out);
	}
}

/* `adr lr, table; ldr rN, [lr, rN, lsl #2]; add pc, lr, rN`: clang's switches, where the
 * table, whose address lr has, comes next. */
static bool adds_link_register(const struct litifut_instruction *branch)
{
	return bits(branch->word, 27, 21) == 4 && (bits(branch->word, 19, 16) == LINK_REGISTER ||
						   bits(branch->word, 3, 0) == LINK_REGISTER);
}

void litifut_arm_link(const struct litifut_instruction *setter, bool adjacent,
		      struct litifut_instruction *branch)
{
	uint32_t condition = bits(branch->word, 31, 28);

	switch (branch->class) {
	case LITIFUT_CLASS_BRANCH_DIRECT:
		branch->class = LITIFUT_CLASS_CALL_DIRECT;
		branch->word |= 1u << 24; /* bl */
		break;
	case LITIFUT_CLASS_BRANCH_INDIRECT:
		branch->class = LITIFUT_CLASS_CALL_INDIRECT;
		branch->word = condition << 28 | 0x012fff30 | branch->target_register; /* blx */
		break;
	case LITIFUT_CLASS_BRANCH_COMPUTED:
		if (adds_link_register(branch))
			return;
		branch->class = LITIFUT_CLASS_CALL_COMPUTED;
		break;
	default:
		return;
	}
	/* What stands between may have changed lr, or it was not set each time that the
	 * branch is taken. */
	branch->linked =
		adjacent && (!setter->conditional || bits(setter->word, 31, 28) == condition)
			? LITIFUT_LINKED_SAME
			: LITIFUT_LINKED_BEFORE;
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
	} else if ((half & 0xff87) == 0x4704) { /* DDI 0553: BXNS; of lr it is a return */
		out->class = LITIFUT_CLASS_BRANCH_INDIRECT;
		out->target_register = (uint8_t)bits(half, 6, 3);
		out->inexact = out->target_register != LINK_REGISTER;
	} else if ((half & 0xff87) == 0x4784) { /* BLXNS, whose return address is on the stack */
		out->class = LITIFUT_CLASS_CALL_INDIRECT;
		out->target_register = (uint8_t)bits(half, 6, 3);
		out->inexact = true;
	} else if ((half & 0xff87) == 0x4687) { /* A8.8.103 MOV pc, rN, encoding T1 */
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

/* Loads of the pc: LDR with an offset (A8.8.62, encodings T3 and T4), a literal
 * (A8.8.64) or a register (A8.8.65), and LDM. From the stack they are returns. What
 * the tracer can do in their place is in litifut_arm_loaded(), tracer/arm/next_pc.h. */
static void decode_pc_load(uint16_t first, uint16_t second, struct litifut_instruction *out)
{
	unsigned base = bits(first, 3, 0);
	bool single = (first & 0xff70) == 0xf850 && bits(second, 15, 12) == 15;
	bool multiple =
		((first & 0xffd0) == 0xe890 || (first & 0xffd0) == 0xe910) && bits(second, 15, 15);

	if (base == 13 || (!single && !multiple) || (multiple && base == 15)) /* clrm of v8.1-M */
		return;
	out->class = LITIFUT_CLASS_BRANCH_COMPUTED;
	out->target_register = (uint8_t)base;
	if (multiple || base == 14)
		out->inexact = true;
	else if (base != 15 && !bits(first, 7, 7) && bits(second, 11, 6))
		out->inexact = bits(second, 11, 8) != 12; /* anything but [rN, #-n] */
	else if (base != 15 && !bits(first, 7, 7))
		out->inexact = bits(second, 3, 0) >= 13;
}

/* Branches of the loops of v8.1-M, DDI 0553: LE, LETP and WLS, WLSTP, with immh:imml:'0'. */
static void decode_loop(uint32_t word, uint32_t pc, struct litifut_instruction *out)
{
	const uint32_t offset = bits(word, 10, 1) << 2 | bits(word, 11, 11) << 1;
	const bool always = (word & 0xfffff001) == 0xf02fc001; /* le without lr */

	if (!always && !litifut_arm_ends_loop(word) && !litifut_arm_begins_loop(word))
		return;
	out->class = LITIFUT_CLASS_BRANCH_DIRECT;
	out->conditional = !always;
	out->target = (litifut_arm_begins_loop(word) ? pc + offset : pc - offset) | 1;
}

static void decode_wide(uint16_t first, uint16_t second, uint32_t address,
			struct litifut_instruction *out)
{
	uint32_t pc = address + 4;

	out->length = 4;
	out->word = (uint32_t)first << 16 | second;
	if ((first & 0xf800) != 0xf000 || !(second & 0x8000)) {
		decode_pc_load(first, second, out);
		return;
	}
	switch (second & 0x5000) {
	case 0x5000: /* A8.8.25 BL, encoding T1 */
		out->class = LITIFUT_CLASS_CALL_DIRECT;
		out->target = (pc + thumb_offset(first, second)) | 1;
		break;
	case 0x4000: /* BLX, encoding T2; bit 0 (H) must be 0 */
		if (second & 1) {
			decode_loop(out->word, pc, out);
			break;
		}
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

unsigned litifut_arm_decode(const struct cpu_context *context, const uint8_t *code,
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

/* The lowest bit that is set says how many there are. */
static unsigned length_of(unsigned mask)
{
	unsigned length = 4;

	for (; !(mask & 1); mask >>= 1)
		length--;
	return length;
}

unsigned litifut_arm_it_length(uint16_t half)
{
	return (half & 0xff00) == 0xbf00 && half & 0xf ? length_of(half & 0xf) : 0;
}

/* DDI 0553: VPST; VPT of integers and, where bits 21:20 are 11, of floating-point numbers. Without
 * a mask it is VCMP. */
unsigned litifut_arm_vpt_length(uint32_t word)
{
	const unsigned mask = (word >> 19 & 8) | (word >> 13 & 7);

	if ((word & 0xef810f10) != 0xee010f00 || !mask ||
	    (!(word & 0x10000000) && (word & 0x00300000) != 0x00300000) ||
	    (word & 0x10301041) == 0x10300001) /* vpsel */
		return 0;
	return length_of(mask);
}
