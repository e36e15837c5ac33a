/* Where control goes behind a MIPS instruction. Manual: MD00086. */
#include "cpu/mips/mips.h"
#include "cpu/step.h"

#include "common/bytes.h"

static bool is_coprocessor_branch(uint32_t word) /* bc1f, bc1t, the same of the second */
{
	return (word >> 26 == 0x11 || word >> 26 == 0x12) && (word >> 21 & 31) == 8;
}

bool litifut_mips_is_likely(uint32_t word)
{
	unsigned operation = word >> 26;

	return (operation >= 0x14 && operation <= 0x17) ||
	       (operation == 0x01 && (word >> 16 & 0x0e) == 0x02) ||
	       (is_coprocessor_branch(word) && word & 0x20000);
}

bool litifut_mips_traps(uint32_t word)
{
	return (word & 0xfc00003f) == 0x0d || (word & 0xffff003f) == 0x34;
}

static enum cpu_exclusive exclusive_of(uint32_t word)
{
	if (word >> 26 == 0x30) /* ll */
		return CPU_EXCLUSIVE_OPENS;
	return word >> 26 == 0x38 ? CPU_EXCLUSIVE_CLOSES : CPU_EXCLUSIVE_NONE; /* sc */
}

uint32_t litifut_mips_find_exclusive(const struct cpu_context *context, const uint8_t *code,
				     uint32_t available, enum litifut_code_state state)
{
	if (state != LITIFUT_CODE_PLAIN)
		return available;
	for (uint32_t at = 0; at + 4 <= available; at += 4)
		if (exclusive_of(litifut_get32(context->big_endian, code + at)) !=
		    CPU_EXCLUSIVE_NONE)
			return at;
	return available;
}

unsigned litifut_mips_step(const struct cpu_context *context, const uint8_t *code, size_t available,
			   uint32_t address, enum litifut_code_state state, unsigned *block,
			   struct cpu_step *step)
{
	struct litifut_instruction instruction;
	const unsigned length =
		litifut_mips_decode(context, code, available, address, state, &instruction);
	const uint32_t word = instruction.word;

	(void)block;
	*step = (struct cpu_step){.length = (uint8_t)length};
	if (!length || state != LITIFUT_CODE_PLAIN)
		return length;
	if (is_coprocessor_branch(word)) {
		instruction.class = LITIFUT_CLASS_BRANCH_DIRECT;
		instruction.conditional = true;
		instruction.target = address + 4 + ((uint32_t)(int16_t)(word & 0xffff) << 2);
	}
	if (instruction.class != LITIFUT_CLASS_OTHER) {
		cpu_step_class(&instruction, LITIFUT_MIPS_RA, step);
		step->slot = 4;
		step->conditional = instruction.conditional;
		step->likely = litifut_mips_is_likely(word);
	}
	if (litifut_mips_traps(word))
		step->way = LITIFUT_ENDS_STOP;
	step->exclusive = exclusive_of(word);
	return length;
}

enum { LW = 0x23, GP = 28, SP = 29 };

/* Is the register loaded from the GOT, or from where such an address may have been kept? */
static bool is_loaded_by_name(const struct cpu_context *context, const uint8_t *code, size_t end,
			      unsigned number)
{
	for (size_t at = 0; at + 4 <= end; at += 4) {
		const uint32_t word = litifut_get32(context->big_endian, code + at);
		const unsigned base = word >> 21 & 31;

		if (word >> 26 == LW && (word >> 16 & 31) == number && (base == GP || base == SP))
			return true;
	}
	return false;
}

bool litifut_mips_leads_by_name(const struct cpu_context *context, const uint8_t *code,
				size_t bytes)
{
	size_t at = bytes < 4 ? 0 : bytes - 4;

	while (at >= 4) {
		at -= 4;
		const uint32_t word = litifut_get32(context->big_endian, code + at);

		if (!litifut_mips_writes(word, LITIFUT_MIPS_T9))
			continue;
		if (word >> 26 == LW)
			return (word >> 21 & 31) == GP || (word >> 21 & 31) == SP;
		/* a copy of a register; else it is added up, for a function of this module */
		if ((word & 0xfc00003f) == 0x21 || (word & 0xfc00003f) == 0x25)
			return is_loaded_by_name(context, code, bytes,
						 word >> 21 & 31 ? word >> 21 & 31
								 : word >> 16 & 31);
		return false;
	}
	return true;
}
