/* MIPS: PLT entries and la25 stubs.
 *
 * Only non-PIC executables have a PLT:
 *     lui $15, %hi(slot); lw $25, %lo(slot)($15); addiu $24, $15, %lo(slot); jr $25
 * with the last two in either order. PIC code calls through the GOT, whose
 * word points to a lazy stub in .MIPS.stubs until the first call; the dynamic
 * symbol of that function, undefined but with a value, names the stub, so it
 * needs no decoding.
 *
 * A non-PIC call of a PIC function goes through a stub that loads $25:
 *     lui $25, %hi(f); j f; addiu $25, $25, %lo(f)
 * or, right before the function itself, lui; addiu, falling into it. */
#include "postproc/cpu.h"

#include <elf.h>

static bool word(const struct post_code *code, uint32_t address, uint32_t *value)
{
	return code->word(code->context, address, value);
}

static uint32_t low_half(uint32_t instruction)
{
	return (uint32_t)(int32_t)(int16_t)instruction;
}

static struct post_lead follow(const struct post_code *code, uint32_t address)
{
	struct post_lead nowhere = {POST_LEADS_NOWHERE, 0, 0};
	uint32_t first, second, third, fourth;

	if (address & 3 || !word(code, address, &first) || !word(code, address + 4, &second))
		return nowhere;
	uint32_t high = first << 16;
	if (first >> 16 == 0x3c0f && second >> 16 == 0x8df9) { /* lui $15; lw $25, ($15) */
		if (!word(code, address + 8, &third) || !word(code, address + 12, &fourth))
			return nowhere;
		if (third != 0x03200008 && fourth != 0x03200008 && /* jr $25 */
		    third != 0x03200009 && fourth != 0x03200009)   /* jr $25 of R6 */
			return nowhere;
		return (struct post_lead){POST_LEADS_TO_SLOT, high + low_half(second), 16};
	}
	if (first >> 16 != 0x3c19) /* lui $25 */
		return nowhere;
	if (second >> 26 == 2) { /* j */
		uint32_t target = ((address + 8) & 0xf0000000) | (second & 0x03ffffff) << 2;
		return (struct post_lead){POST_LEADS_TO_CODE, target, 16};
	}
	if (second >> 16 == 0x2739 && high + low_half(second) == address + 8) /* addiu $25, $25 */
		return (struct post_lead){POST_LEADS_TO_CODE, address + 8, 8};
	return nowhere;
}

/* The call, its delay slot, then the return address. */
static uint32_t site_before(uint32_t return_address)
{
	return (return_address & ~1u) - 8;
}

/* As if the delay slot were the place that offsets count from (MIPS32
 * Architecture, volume II: JAL, BGEZAL, JALR). A relaxed `b` is a tail call. */
static struct litifut_site site_of_entry(struct litifut_db_entry entry)
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
		site.address = site_before(entry.return_address);
	return site;
}

const struct post_cpu post_cpu_mips = {
	.name = "MIPS",
	.machine = EM_MIPS,
	.site_before = site_before,
	.site_of_entry = site_of_entry,
	.follow = follow,
	.jump_slot = R_MIPS_JUMP_SLOT,
	.global_data = R_MIPS_GLOB_DAT,
};
