/* Where an ARM call or branch instruction goes: pure arithmetic on words, so that it is
 * tested on the build machine.
 *
 * ARM Architecture Reference Manual ARMv7-A, A8.8.25 "BL, BLX (immediate)" and
 * A8.8.26 "BLX (register)". Seen from the return address, a 4-byte call lies 4
 * bytes before it; the pc that the offset is relative to is 8 bytes after an
 * A32 call and 4 bytes after a T32 one. */
#ifndef LITIFUT_TRACER_ARM_NEXT_PC_H
#define LITIFUT_TRACER_ARM_NEXT_PC_H

#include <stdbool.h>
#include <stdint.h>

#include <litifut/module_format.h>

/* A word that the program's own load would read: wherever it is. */
typedef uint32_t __attribute__((aligned(1), may_alias)) litifut_arm_word;

static inline uint32_t litifut_arm_sign_extend(uint32_t value, unsigned bits)
{
	uint32_t sign = UINT32_C(1) << (bits - 1);

	return (value ^ sign) - sign;
}

/* A 32-bit T32 instruction, first halfword in the high half. */
static inline uint32_t litifut_arm_next_pc_t32(uint32_t instruction, uint32_t return_address)
{
	uint32_t s = instruction >> 26 & 1;
	uint32_t i1 = ~(instruction >> 13 ^ s) & 1;
	uint32_t i2 = ~(instruction >> 11 ^ s) & 1;
	uint32_t imm10 = instruction >> 16 & 0x3ff;
	uint32_t imm11 = instruction & 0x7ff;
	uint32_t offset = litifut_arm_sign_extend(
		s << 24 | i1 << 23 | i2 << 22 | imm10 << 12 | imm11 << 1, 25);
	uint32_t pc = return_address & ~UINT32_C(1);

	if (instruction & 0x1000)
		return (pc + offset) | 1;    /* bl, b.w: stays in Thumb state */
	return (pc & ~UINT32_C(3)) + offset; /* blx: Align(PC, 4), to A32 */
}

/* Where an A32 `ldr pc`, `add pc` or `sub pc` goes that stands as a call with this
 * return address would; 0: it is not one of those that rewriter/arm/decode.c takes.
 * Reads the memory that the instruction would have read. */
static inline uint32_t litifut_arm_computed(uint32_t instruction, uint32_t return_address,
					    const uint32_t *registers)
{
	unsigned base = instruction >> 16 & 15;
	unsigned rotation = instruction >> 7 & 30;
	uint32_t value = base == 15 ? return_address + 4 : registers[base];
	uint32_t offset = instruction & 0xff;
	bool load = (instruction & 0x0d70f000) == 0x0510f000;
	bool subtract =
		load ? !(instruction & 0x00800000) : (instruction & 0x0df0f000) == 0x0040f000;
	bool shifted = load == !!(instruction & 0x02000000);

	if (!load && !subtract && (instruction & 0x0df0f000) != 0x0080f000)
		return 0;
	if (base == 13 || base == 14 ||
	    (shifted && (instruction & 0x70 || (instruction & 15) > 12)))
		return 0;
	if (shifted)
		offset = registers[instruction & 15] << (instruction >> 7 & 31);
	else if (load)
		offset = instruction & 0xfff;
	else if (rotation)
		offset = offset >> rotation | offset << (32 - rotation);
	value = subtract ? value - offset : value + offset;
	return load ? *(const litifut_arm_word *)(uintptr_t)value : value;
}

/* The same for the T32 `ldr.w pc` forms, as a tail call. */
static inline uint32_t litifut_arm_loaded(uint32_t instruction, uint32_t return_address,
					  const uint32_t *registers)
{
	unsigned base = instruction >> 16 & 15;
	uint32_t offset = instruction & 0xfff;
	bool up = instruction & 0x00800000;
	uint32_t value = base == 15 ? return_address & ~UINT32_C(3) : registers[base];

	if (base == 13 || base == 14)
		return 0;
	if (base != 15 && !up && (offset & 0xf00) == 0xc00) { /* [rN, #-n] */
		offset &= 0xff;
	} else if (base != 15 && !up) { /* [rN, rM, lsl #n] */
		if (offset & 0xfc0 || (offset & 15) > 12)
			return 0;
		offset = registers[offset & 15] << (offset >> 4 & 3);
		up = true;
	}
	value = up ? value + offset : value - offset;
	return *(const litifut_arm_word *)(uintptr_t)value;
}

/* The pc after the call `instruction` (in the form that the instruction DB
 * stores it) that returns to `return_address` (bit 0: Thumb caller); bit 0 of
 * the result is the Thumb state of the callee. A branch (tail call) is taken as
 * standing where a call with that return address would. `registers` are r0 to
 * r14 at the call. `kind` receives enum litifut_site_kind. 0: it is not a call. A
 * conditional call is taken as met: its condition held, or it would not have
 * come here. */
static inline uint32_t litifut_arm_next_pc(uint32_t instruction, uint32_t return_address,
					   const uint32_t *registers, uint32_t *kind)
{
	uint32_t offset = litifut_arm_sign_extend(instruction & 0xffffff, 24) << 2;

	*kind = LITIFUT_SITE_DIRECT;
	if (return_address & 1) {
		if (instruction >> 16) { /* 32 bits, by far the most */
			if ((instruction & 0xf800c000) == 0xf000c000)
				return litifut_arm_next_pc_t32(instruction, return_address);
			*kind = LITIFUT_SITE_TAIL_DIRECT;
			if ((instruction & 0xf800d000) == 0xf0009000) /* b.w, encoding T4 */
				return litifut_arm_next_pc_t32(instruction, return_address);
			if ((instruction & 0xff70f000) == 0xf850f000) { /* ldr.w pc */
				*kind = LITIFUT_SITE_TAIL_INDIRECT;
				return litifut_arm_loaded(instruction, return_address, registers);
			}
			if ((instruction & 0xfe000000) != 0xfa000000)
				return 0;
			/* A32 blx imm: the rewriter's name for a b.w that would
			 * have to reach farther than it can */
			return ((return_address & ~UINT32_C(3)) + 4 + offset +
				(instruction >> 23 & 2)) |
			       1;
		}
		*kind = LITIFUT_SITE_TAIL_INDIRECT;
		if ((instruction & 0xff87) == 0x4780) /* blx rN */
			*kind = LITIFUT_SITE_INDIRECT;
		else if ((instruction & 0xff87) == 0x4687) /* mov pc, rN: stays in Thumb */
			return registers[instruction >> 3 & 15] | 1;
		else if ((instruction & 0xff87) != 0x4700) /* bx rN */
			return 0;
		return registers[instruction >> 3 & 15];
	}
	if ((instruction & 0xfe000000) == 0xfa000000) /* blx imm: H is bit 24 */
		return (return_address + 4 + offset + (instruction >> 23 & 2)) | 1;
	if (instruction >> 28 == 15) { /* the rewriter's name for a tail call */
		*kind = LITIFUT_SITE_TAIL_INDIRECT;
		return litifut_arm_computed(instruction, return_address, registers);
	}
	if ((instruction & 0x0f000000) == 0x0b000000)
		return return_address + 4 + offset;
	if ((instruction & 0x0f000000) == 0x0a000000) {
		*kind = LITIFUT_SITE_TAIL_DIRECT;
		return return_address + 4 + offset;
	}
	if ((instruction & 0x0ffffff0) == 0x012fff10) {
		*kind = LITIFUT_SITE_TAIL_INDIRECT;
		return registers[instruction & 15];
	}
	if ((instruction & 0x0ffffff0) == 0x012fff30) {
		*kind = LITIFUT_SITE_INDIRECT;
		return registers[instruction & 15];
	}
	*kind = LITIFUT_SITE_INDIRECT;
	return litifut_arm_computed(instruction, return_address, registers);
}

#endif
