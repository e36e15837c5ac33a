/* Encoding the AVR instructions that the rewriter writes; see decode.c. */
#include "common/bytes.h"
#include "cpu/avr/avr.h"

void litifut_avr_far(bool link, uint32_t target, uint8_t *code)
{
	uint32_t word = target >> 1;

	litifut_put16(
		false, code,
		(uint16_t)((link ? 0x940e : 0x940c) | (word >> 13 & 0x01f0) | (word >> 16 & 1)));
	litifut_put16(false, code + 2, (uint16_t)word);
}

bool litifut_avr_near(const struct cpu_context *context, bool link, uint32_t address,
		      uint32_t target, uint8_t *code)
{
	uint32_t words = (target - address - 2) >> 1;
	struct litifut_instruction check;

	litifut_put16(false, code, (uint16_t)((link ? 0xd000 : 0xc000) | (words & 0xfff)));
	litifut_avr_decode(context, code, 2, address, LITIFUT_CODE_PLAIN, &check);
	return check.target == target;
}

bool litifut_avr_encode_call(const struct cpu_context *context,
			     const struct litifut_instruction *instruction, uint32_t address,
			     uint32_t entry, uint8_t *code)
{
	if (instruction->length == 2)
		return litifut_avr_near(context, true, address, entry, code);
	litifut_avr_far(true, entry, code);
	return true;
}
