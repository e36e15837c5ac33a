/* Where control goes behind an AVR instruction. Manual: DS40002198. */
#include "common/bytes.h"
#include "cpu/avr/avr.h"
#include "cpu/step.h"

#define NO_LINK_REGISTER 32

/* `rcall .+0` makes room on the stack. */
#define RCALL_NEXT 0xd000

unsigned litifut_avr_step(const struct cpu_context *context, const uint8_t *code, size_t available,
			  uint32_t address, enum litifut_code_state state, unsigned *block,
			  struct cpu_step *step)
{
	struct litifut_instruction instruction, skipped;
	const unsigned length =
		litifut_avr_decode(context, code, available, address, state, &instruction);
	uint16_t word;

	(void)block;
	*step = (struct cpu_step){.length = (uint8_t)length};
	if (!length)
		return 0;
	word = litifut_get16(false, code);
	if (word == RCALL_NEXT)
		return length;
	cpu_step_class(&instruction, NO_LINK_REGISTER, step);
	step->conditional = instruction.conditional;
	if ((word & 0xffef) == 0x9508) /* ret, reti */
		step->way = LITIFUT_ENDS_RETURN;
	if (!litifut_avr_is_skip(word))
		return length;
	/* over the next instruction; where that ends is not known at the end of the code */
	step->conditional = true;
	step->way = LITIFUT_ENDS_JUMP;
	if (litifut_avr_decode(context, code + 2, available - 2, address + 2, state, &skipped)) {
		step->way = LITIFUT_ENDS_BRANCH;
		step->target = address + 2 + skipped.length;
	}
	return length;
}
