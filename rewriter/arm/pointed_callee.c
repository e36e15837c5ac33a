/* Start-up code in assembly language often calls by `ldr r2, =main; blx r2'. */
#include "rewriter/arm/pointed_callee.h"

#include "cpu/arm/arm.h"
#include "cpu/arm/effect.h"

/* What is known of the registers. */
struct known {
	uint32_t values[16];
	uint32_t since[16]; /* address of the first instruction that has made the value; 0: not
			       known */
};

static void forget(struct known *known, uint32_t registers)
{
	for (unsigned i = 0; i < 16; i++)
		if (registers >> i & 1)
			known->since[i] = 0;
}

static void follow(const struct litifut_image *image, uint32_t address,
		   const struct litifut_arm_effect *effect, struct known *known)
{
	const struct litifut_section *section;
	const unsigned written = (unsigned)__builtin_ctz(effect->written | 1u << 16);

	if (!effect->loads_literal && !effect->is_constant) {
		forget(known, effect->written);
		return;
	}
	if (written == 16)
		return;
	if (effect->is_upper_half) {
		known->values[written] = effect->value << 16 | (known->values[written] & 0xffff);
		return; /* known as its lower half is */
	}
	known->since[written] = address;
	known->values[written] = effect->value;
	if (!effect->loads_literal)
		return;
	section = litifut_image_section_at(image, effect->value, 4);
	if (section && section->bytes)
		known->values[written] =
			litifut_get32(false, section->bytes + (effect->value - section->address));
	else
		known->since[written] = 0;
}

/* Reads one instruction; 0: there is none. */
static unsigned read(const struct litifut_image *image, const struct litifut_arch_context *context,
		     uint32_t address, struct litifut_instruction *instruction)
{
	const struct litifut_section *section = litifut_image_section_at(image, address, 2);

	return section && section->bytes
		       ? litifut_arm_decode(&context->cpu,
					    section->bytes + (address - section->address),
					    section->address + section->size - address, address,
					    LITIFUT_CODE_THUMB, instruction)
		       : 0;
}

/* Does a branch in [start, end) lead to an address in (first, last]? */
static bool is_entered(const struct litifut_image *image,
		       const struct litifut_arch_context *context, uint32_t start, uint32_t end,
		       uint32_t first, uint32_t last)
{
	struct litifut_instruction instruction;
	unsigned length;

	for (uint32_t at = start; at < end; at += length) {
		length = read(image, context, at, &instruction);
		if (!length)
			return false;

		const uint32_t target = instruction.target & ~1u;

		if (instruction.class == LITIFUT_CLASS_BRANCH_DIRECT && target > first &&
		    target <= last)
			return true;
	}
	return false;
}

uint32_t litifut_arm_pointed_callee(const struct litifut_image *image,
				    const struct litifut_arch_context *context, uint32_t function,
				    uint32_t site)
{
	const struct litifut_symbol *symbol = litifut_image_function_at(image, function);
	struct litifut_instruction instruction;
	struct known known = {0};
	unsigned length;
	unsigned reg;

	if (!symbol)
		return 0;
	for (uint32_t at = function; at < site; at += length) {
		struct litifut_arm_effect effect;

		length = read(image, context, at, &instruction);
		if (!length)
			return 0;
		effect = litifut_arm_thumb_effect(instruction.word, length, at);
		follow(image, at, &effect, &known);
		if (instruction.class != LITIFUT_CLASS_OTHER)
			forget(&known, 0xffff);
	}
	length = read(image, context, site, &instruction);
	if (length != 2 || instruction.word >> 8 != 0x47) /* bx, blx */
		return 0;
	reg = instruction.word >> 3 & 15;
	return known.since[reg] && !is_entered(image, context, function,
					       litifut_image_function_end(image, symbol),
					       known.since[reg], site)
		       ? known.values[reg]
		       : 0;
}

uint32_t litifut_arm_pointed_jump(const struct litifut_image *image,
				  const struct litifut_arch_context *context, uint32_t function)
{
	const struct litifut_symbol *symbol = litifut_image_function_at(image, function);
	const uint32_t end = symbol ? litifut_image_function_end(image, symbol) : function;
	struct litifut_instruction instruction;
	uint32_t target = 0;
	unsigned length;

	for (uint32_t at = function; at < end && !target; at += length) {
		length = read(image, context, at, &instruction);
		if (!length)
			break;
		if (instruction.class == LITIFUT_CLASS_BRANCH_INDIRECT)
			target = litifut_arm_pointed_callee(image, context, function, at);
	}
	return target;
}
