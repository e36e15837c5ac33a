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
#include "cpu/mips/mips.h"

static bool word(const struct litifut_code_reader *code, uint32_t address, uint32_t *value)
{
	return code->word(code->context, address, value);
}

static uint32_t low_half(uint32_t instruction)
{
	return (uint32_t)(int32_t)(int16_t)instruction;
}

struct litifut_lead litifut_mips_follow(const struct litifut_code_reader *code, uint32_t address)
{
	struct litifut_lead nowhere = {LITIFUT_LEADS_NOWHERE, 0, 0};
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
		return (struct litifut_lead){LITIFUT_LEADS_TO_SLOT, high + low_half(second), 16};
	}
	if (first >> 16 != 0x3c19) /* lui $25 */
		return nowhere;
	if (second >> 26 == 2) { /* j */
		uint32_t target = ((address + 8) & 0xf0000000) | (second & 0x03ffffff) << 2;
		return (struct litifut_lead){LITIFUT_LEADS_TO_CODE, target, 16};
	}
	if (second >> 16 == 0x2739 && high + low_half(second) == address + 8) /* addiu $25, $25 */
		return (struct litifut_lead){LITIFUT_LEADS_TO_CODE, address + 8, 8};
	return nowhere;
}
