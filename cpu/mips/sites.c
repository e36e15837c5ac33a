/* MIPS: what call sites look like, for code without a list of them. */
#include "cpu/mips/mips.h"

static uint32_t low_half(uint32_t instruction)
{
	return (uint32_t)(int32_t)(int16_t)instruction;
}

/* The call, its delay slot, then the return address. */
uint32_t litifut_mips_site_before(uint32_t return_address)
{
	return (return_address & ~1u) - 8;
}

/* As if the delay slot were the place that offsets count from (MIPS32
 * Architecture, volume II: JAL, BGEZAL, JALR). A relaxed `b` is a tail call. */
struct litifut_site litifut_mips_site_of_entry(struct litifut_db_entry entry)
{
	uint32_t instruction = entry.instruction, slot = entry.return_address - 4;
	uint32_t in_region = (slot & 0xf0000000) | (instruction & 0x03ffffff) << 2;
	uint32_t near = slot + (low_half(instruction) << 2);
	struct litifut_site site = {
		.return_address = entry.return_address, .instruction = instruction, .length = 4};

	if (instruction >> 26 == 3) { /* jal */
		site.kind = LITIFUT_SITE_DIRECT;
		site.callee = in_region;
	} else if (instruction >> 16 == 0x0411) { /* bal */
		site.kind = LITIFUT_SITE_DIRECT;
		site.callee = near;
	} else if (instruction >> 26 == 2) { /* j */
		site.kind = LITIFUT_SITE_TAIL_DIRECT;
		site.callee = in_region;
	} else if (instruction >> 16 == 0x1000) { /* b */
		site.kind = LITIFUT_SITE_TAIL_DIRECT;
		site.callee = near;
	} else if ((instruction & 0xfc00003e) == 0x00000008) { /* jr, jalr */
		site.kind = instruction & 1 && instruction >> 11 & 31 ? LITIFUT_SITE_INDIRECT
								      : LITIFUT_SITE_TAIL_INDIRECT;
	}
	if (site.kind == LITIFUT_SITE_DIRECT || site.kind == LITIFUT_SITE_INDIRECT)
		site.address = litifut_mips_site_before(entry.return_address);
	return site;
}
