/* Where control goes behind an ARM instruction. Encodings: DDI 0406C A5 (A32), A6 (T32). */
#include "cpu/arm/arm.h"
#include "cpu/step.h"

#include "common/bytes.h"

#define LINK_REGISTER 14

/* A5.2.10 synchronization primitives; lda and stl, which are not exclusive, have bit 9 clear. */
static enum cpu_exclusive plain_exclusive(uint32_t word)
{
	if (word == 0xf57ff01f) /* clrex */
		return CPU_EXCLUSIVE_GIVES_UP;
	if (word >> 28 == 0xf || !(word & 0x200))
		return CPU_EXCLUSIVE_NONE;
	if ((word & 0x0f9000f0) == 0x01900090)
		return CPU_EXCLUSIVE_OPENS;
	return (word & 0x0f9000f0) == 0x01800090 ? CPU_EXCLUSIVE_CLOSES : CPU_EXCLUSIVE_NONE;
}

static uint32_t find_plain(const uint8_t *code, uint32_t available)
{
	for (uint32_t at = 0; at + 4 <= available; at += 4)
		if (plain_exclusive(litifut_get32(false, code + at)) != CPU_EXCLUSIVE_NONE)
			return at;
	return available;
}

static void step_plain(uint32_t word, struct cpu_step *step)
{
	step->exclusive = plain_exclusive(word);
	if (word >> 28 == 0xf)
		return;
	if ((word & 0x0e108000) == 0x08108000 || (word & 0x0ffff000) == 0x049df000)
		step->way = LITIFUT_ENDS_RETURN; /* ldm with the pc, ldr pc, [sp], #4 */
	else if ((word & 0xfff000f0) == 0xe7f000f0)
		step->way = LITIFUT_ENDS_STOP; /* udf */
}

/* A6.3.6; tbb and tbh stand there as well. */
static enum cpu_exclusive wide_exclusive(uint32_t word)
{
	const unsigned size = word >> 4 & 0xf;
	const bool sized = size == 4 || size == 5 || size == 7 || size >= 0xc;

	if (word == 0xf3bf8f2f) /* clrex */
		return CPU_EXCLUSIVE_GIVES_UP;
	if ((word & 0xfff0f03f) == 0xe840f000) /* tt, ttt, tta, ttat of v8-M */
		return CPU_EXCLUSIVE_NONE;
	if ((word & 0xfff00000) == 0xe8500000 || ((word & 0xfff00000) == 0xe8d00000 && sized))
		return CPU_EXCLUSIVE_OPENS;
	if ((word & 0xfff00000) == 0xe8400000 || ((word & 0xfff00000) == 0xe8c00000 && sized))
		return CPU_EXCLUSIVE_CLOSES;
	return CPU_EXCLUSIVE_NONE;
}

/* Few other instructions have such a first halfword. */
static uint32_t find_wide(const uint8_t *code, uint32_t available)
{
	for (uint32_t at = 0; at + 4 <= available; at += 2) {
		const uint32_t half = litifut_get16(false, code + at);

		if ((half & 0xff60) == 0xe840 &&
		    wide_exclusive(half << 16 | litifut_get16(false, code + at + 2)) !=
			    CPU_EXCLUSIVE_NONE)
			return at;
	}
	return available;
}

uint32_t litifut_arm_find_exclusive(const struct cpu_context *context, const uint8_t *code,
				    uint32_t available, enum litifut_code_state state)
{
	(void)context;
	return state == LITIFUT_CODE_THUMB ? find_wide(code, available)
					   : find_plain(code, available);
}

static void step_wide(uint32_t word, struct cpu_step *step)
{
	step->exclusive = wide_exclusive(word);
	if ((word & 0xffff8000) == 0xe8bd8000 || (word & 0xfffff000) == 0xf85df000)
		step->way = LITIFUT_ENDS_RETURN; /* pop, ldr pc, [sp], #4 */
	else if ((word & 0xfff0ffe0) == 0xe8d0f000)
		step->way = LITIFUT_ENDS_JUMP; /* tbb, tbh */
	else if ((word & 0xfff0f000) == 0xf7f0a000)
		step->way = LITIFUT_ENDS_STOP; /* udf */
}

static void step_narrow(uint32_t half, struct cpu_step *step)
{
	if ((half & 0xff00) == 0xbd00)
		step->way = LITIFUT_ENDS_RETURN; /* pop */
	else if ((half & 0xff87) == 0x4487)
		step->way = LITIFUT_ENDS_JUMP; /* add pc, rN */
	else if ((half & 0xff00) == 0xde00)
		step->way = LITIFUT_ENDS_STOP; /* udf */
}

unsigned litifut_arm_step(const struct cpu_context *context, const uint8_t *code, size_t available,
			  uint32_t address, enum litifut_code_state state, unsigned *block,
			  struct cpu_step *step)
{
	struct litifut_instruction instruction;
	const unsigned length =
		litifut_arm_decode(context, code, available, address, state, &instruction);

	*step = (struct cpu_step){.length = (uint8_t)length};
	if (!length)
		return 0;
	cpu_step_class(&instruction, LINK_REGISTER, step);
	if (state == LITIFUT_CODE_PLAIN)
		step_plain(instruction.word, step);
	else if (length == 4)
		step_wide(instruction.word, step);
	else
		step_narrow(instruction.word, step);
	/* a stop in an IT block does not end the block of the graph */
	if (step->way == LITIFUT_ENDS_STOP && *block)
		step->way = LITIFUT_ENDS_ON;
	step->conditional = step->way != LITIFUT_ENDS_ON && (instruction.conditional || *block);
	if (*block)
		--*block;
	else if (state == LITIFUT_CODE_THUMB)
		*block = litifut_arm_block_length(instruction.word, length);
	return length;
}
