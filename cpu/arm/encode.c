/* Encoding the ARM instructions that the rewriter writes. The tracer's entry is
 * A32 code, so an A32 caller uses bl and a T32 caller blx; thunks can be either; see decode.c for
 * the two instruction sets. Encodings: DDI 0406C A8.8.25. */
#include "cpu/arm/arm.h"

#include "common/bytes.h"

static bool fits(uint32_t offset, unsigned width)
{
	uint32_t half = 1u << (width - 1);

	return offset + half < half * 2;
}

static bool encode_plain(const struct litifut_instruction *instruction, uint32_t address,
			 uint32_t entry, uint8_t *code)
{
	uint32_t offset = entry - (address + 8);
	uint32_t condition = instruction->word & 0xf0000000;

	if (!fits(offset, 26))
		return false;
	if (entry & 1) {
		if (condition < 0xe0000000)
			return false;
		litifut_put32(false, code,
			      0xfa000000 | (offset & 2) << 23 | (offset >> 2 & 0xffffff));
		return true;
	}
	if (condition == 0xf0000000) /* blx imm has no condition of its own */
		condition = 0xe0000000;
	litifut_put32(false, code, condition | 0x0b000000 | (offset >> 2 & 0xffffff));
	return true;
}

static bool encode_thumb(const struct cpu_context *context, uint32_t address, uint32_t entry,
			 uint8_t *code)
{
	uint32_t offset = entry & 1 ? entry - 1 - (address + 4) : entry - ((address + 4) & ~3u);
	uint32_t s = offset >> 24 & 1;
	uint32_t j1 = !(offset >> 23 & 1) ^ s;
	uint32_t j2 = !(offset >> 22 & 1) ^ s;

	if (!fits(offset, litifut_arm_short_branches(context) ? 23 : 25))
		return false;
	litifut_put16(false, code, (uint16_t)(0xf000 | s << 10 | (offset >> 12 & 0x3ff)));
	litifut_put16(false, code + 2,
		      (uint16_t)(0xc000 | (entry & 1) << 12 | j1 << 13 | j2 << 11 |
				 (offset >> 1 & (entry & 1 ? 0x7ff : 0x7fe))));
	return true;
}

bool litifut_arm_encode_call(const struct cpu_context *context,
			     const struct litifut_instruction *instruction, uint32_t address,
			     uint32_t entry, uint8_t *code)
{
	if (instruction->length != 4)
		return false;
	if (instruction->thumb)
		return encode_thumb(context, address, entry, code);
	return encode_plain(instruction, address, entry, code);
}
