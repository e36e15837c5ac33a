/* What an ARM instruction does to the frame of its function. Manual: DDI 0406C. */
#include "cpu/frame.h"
#include "cpu/arm/arm.h"
#include "cpu/arm/effect.h"

enum { SP = 13, LR = 14 };

static unsigned count_bits(uint32_t word)
{
	unsigned count = 0;

	for (; word; word &= word - 1)
		count++;
	return count;
}

/* The instruction stores lr on the stack: *place is how far above the stack pointer it has left.
 * stm and push, str, strd (T32 only). */
static bool stores_lr(uint32_t word, unsigned length, bool thumb, uint32_t *place)
{
	const unsigned reg = word >> 12 & 15, second = word >> 8 & 15;

	if (length == 2) {
		*place = 4 * (count_bits(word & 0x1ff) - 1);
		return (word & 0xff00) == 0xb500;
	}
	/* stm, stmdb of sp, the first without a change of it */
	if ((word & 0x0fff0000) == 0x092d0000 || (word & 0x0fff0000) == 0x088d0000) {
		*place = 4 * (count_bits(word & 0xffff) - 1);
		return word & 1u << LR && !(word & 0x8000) && (!thumb || word >> 28 == 0xe);
	}
	if (!thumb) {
		*place = word & 0x00200000 ? 0 : word & 0xfff;
		return reg == LR && ((word & 0x0fff0000) == 0x058d0000 || /* [sp, #n] */
				     (word & 0x0fff0000) == 0x052d0000);  /* [sp, #-n]! */
	}
	if ((word & 0xffff0000) == 0xf8cd0000) { /* str [sp, #n] */
		*place = word & 0xfff;
		return reg == LR;
	}
	if ((word & 0xffff0f00) == 0xf84d0d00) { /* str [sp, #-n]! */
		*place = 0;
		return reg == LR;
	}
	if ((word & 0xffff0000) == 0xe9cd0000 || (word & 0xffff0000) == 0xe96d0000) { /* strd */
		*place = (word & 0x00200000 ? 0 : (word & 0xff) * 4) + (second == LR ? 4 : 0);
		return reg == LR || second == LR;
	}
	return false;
}

unsigned litifut_arm_track(const struct cpu_context *context, const uint8_t *code, size_t available,
			   enum litifut_code_state state, struct cpu_frame *frame)
{
	const bool thumb = state == LITIFUT_CODE_THUMB;
	struct litifut_instruction instruction;
	const unsigned length =
		litifut_arm_decode(context, code, available, 0, state, &instruction);
	uint32_t place;

	if (!length)
		return 0;
	const uint32_t word = instruction.word;
	const struct litifut_arm_effect effect = thumb ? litifut_arm_thumb_effect(word, length, 0)
						       : litifut_arm_plain_effect(word, 0);
	const bool conditional = thumb ? frame->conditional > 0 : word >> 28 < 14;

	if (frame->conditional)
		frame->conditional--;
	else if (thumb && length == 2)
		frame->conditional = litifut_arm_it_length((uint16_t)word);
	if (conditional) {
		frame->may_leave |= effect.stack != LITIFUT_ARM_STACK_STAYS;
		return length;
	}
	if (effect.stack == LITIFUT_ARM_STACK_MOVES || effect.stack == LITIFUT_ARM_STACK_POPPED) {
		frame->depth -= (uint32_t)effect.stack_change;
		if (frame->depth < frame->saved)
			frame->saved = 0;
		if (frame->depth > INT32_MAX)
			frame->known = false;
	} else if (effect.stack) {
		frame->known = false;
	}
	if (!frame->saved && stores_lr(word, length, thumb, &place) && place < frame->depth)
		frame->saved = frame->depth - place;
	return length;
}
