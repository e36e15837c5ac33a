/* Where a MIPS call instruction goes: pure arithmetic on words, so that it is
 * tested on the build machine.
 *
 * MIPS32 Architecture for Programmers, volume II: JAL, JALR, BGEZAL (`bal` is
 * BGEZAL $0). The call lies 8 bytes before its return address, the delay slot 4
 * bytes before; branch offsets count from the delay slot, and the region of a
 * `jal` is that of its delay slot. */
#ifndef LITIFUT_TRACER_MIPS_NEXT_PC_H
#define LITIFUT_TRACER_MIPS_NEXT_PC_H

#include <stdint.h>

#include <litifut/module_format.h>

/* The pc after the call (or tail call) `instruction` that returns to `return_address`.
 * `target` is what the register in the field rs holds, after the delay slot; it is
 * used where there is such a field.
 * `kind` receives enum litifut_site_kind. 0: it is not a call. A conditional
 * branch-and-link is taken as met. */
static inline uint32_t litifut_mips_next_pc(uint32_t instruction, uint32_t return_address,
					    uint32_t target, uint32_t *kind)
{
	uint32_t delay_slot = return_address - 4;

	*kind = LITIFUT_SITE_DIRECT;
	if (instruction >> 26 == 3) /* jal */
		return (delay_slot & 0xf0000000) | (instruction & 0x03ffffff) << 2;
	/* REGIMM with bltzal, bgezal, bltzall, bgezall: rt is 10000 to 10011 */
	if (instruction >> 26 == 1 && (instruction >> 16 & 0x1c) == 0x10) {
		uint32_t offset = ((instruction & 0xffff) ^ 0x8000) - 0x8000;

		return delay_slot + (offset << 2);
	}
	/* A tail call: `bc` of release 6, which no traced image has, stands in the DB
	 * for any branch, because it reaches farthest; SPECIAL jr, whose hint field is
	 * free as that of jalr */
	if (instruction >> 26 == 0x32) {
		uint32_t offset = ((instruction & 0x03ffffff) ^ 0x02000000) - 0x02000000;

		*kind = LITIFUT_SITE_TAIL_DIRECT;
		return delay_slot + (offset << 2);
	}
	if ((instruction & 0xfc1ff83f) == 0x00000008) {
		*kind = LITIFUT_SITE_TAIL_INDIRECT;
		return target;
	}
	/* SPECIAL jalr */
	if ((instruction & 0xfc1ff83f) == 0x0000f809) {
		*kind = LITIFUT_SITE_INDIRECT;
		return target;
	}
	return 0;
}

#endif
