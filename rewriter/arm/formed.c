/* What registers hold, followed from one instruction to the next in the order of their addresses:
 * a register keeps it behind a branch as well, where it may hold something else. So these are more
 * addresses than the code forms, but hardly fewer.
 *
 *	ldr  rN, =label - here		movw rN, #:lower16:label	adr  rN, label
 *	add  rN, pc			movt rN, #:upper16:label	add  rN, rN, #number
 *
 * Encodings: DDI 0406C A5 (A32), A6 (T32). */
#include "rewriter/arm/formed.h"

#include <elf.h>

#include "cpu/arm/arm.h"
#include "cpu/arm/effect.h"
#include "rewriter/image.h"

#define PC 15
#define NONE 16 /* no register */

/* What a callee may change: r0 to r3, r12 and lr. Between a program's own functions GCC may keep
 * something in one of these all the same, but hardly a part of an address. */
#define CALL_CHANGES 0x500fu

enum kind {
	UNKNOWN = 0,
	NUMBER,  /* and no address yet */
	LITERAL, /* the same, or an address in an image that is not moved: it depends on whether
		  * the pc is added to it */
	ADDRESS
};

struct held {
	uint8_t kind;
	uint32_t value;
	uint32_t at; /* where it has been put there */
};

struct follower {
	const struct litifut_section *section;
	litifut_take_formed *take;
	void *with;
	bool fixed; /* the image is not moved */
	struct held held[NONE];
};

unsigned litifut_arm_added_to_pc(uint32_t word, bool thumb)
{
	if (thumb)
		return (word & 0xffffff78) == 0x4478 ? (word >> 4 & 8) | (word & 7) : 16;
	if ((word & 0x0fff0ff0) == 0x008f0000)
		return word & 15;
	return (word & 0x0ff00fff) == 0x0080000f ? word >> 16 & 15 : 16;
}

/* Of these registers nothing is known any more. */
static void forget(struct follower *follower, uint32_t registers)
{
	for (unsigned reg = 0; reg < NONE; reg++) {
		struct held *held = &follower->held[reg];

		if (!(registers >> reg & 1))
			continue;
		if (held->kind == LITERAL)
			follower->take(follower->with, held->at, held->value);
		held->kind = UNKNOWN;
	}
}

/* The register that alone is written, or NONE. */
static unsigned only_register(uint32_t written)
{
	for (unsigned reg = 0; reg < NONE; reg++)
		if (written == 1u << reg)
			return reg;
	return NONE;
}

static bool is_call(uint32_t word, unsigned length, bool thumb)
{
	if (thumb)
		return length == 2 ? (word & 0xff80) == 0x4780 /* blx rN */
				   : (word & 0xf800c000) == 0xf000c000;
	return (word & 0x0f000000) == 0x0b000000 || word >> 25 == 0x7d ||
	       (word & 0x0ffffff0) == 0x012fff30;
}

/* add pc, pc, #number, as clang writes a branch in A32. False: it is another instruction. */
static bool is_short_jump(uint32_t word, uint32_t at, uint32_t *target)
{
	const unsigned turn = word >> 7 & 30;

	*target = at + 8 + ((word & 0xff) >> turn | (turn ? (word & 0xff) << (32 - turn) : 0));
	return (word & 0x0ffff000) == 0x028ff000;
}

/* What the instruction puts into its only register. */
static struct held result(struct follower *follower, const struct litifut_arm_effect *effect,
			  unsigned reg, uint32_t word, bool thumb, uint32_t at)
{
	const struct litifut_section *section = follower->section;
	const uint8_t literal = follower->fixed ? LITERAL : NUMBER;
	const unsigned added = litifut_arm_added_to_pc(word, thumb);
	const unsigned from = effect->adds_number ? effect->operands[0] : effect->copied;
	const uint32_t offset = effect->value - section->address;

	if (effect->loads_literal && offset < section->size && section->size - offset >= 4)
		return (struct held){literal, litifut_get32(false, section->bytes + offset), at};
	if (effect->is_constant && !effect->is_upper_half)
		return (struct held){NUMBER, effect->value, at};
	if (effect->is_constant && follower->held[reg].kind == NUMBER)
		return (struct held){
			literal, effect->value << 16 | (follower->held[reg].value & 0xffff), at};
	if (effect->forms_address)
		return (struct held){ADDRESS, effect->value, at};
	if (added < PC && follower->held[added].kind != UNKNOWN) {
		if (follower->held[added].kind == LITERAL)
			follower->held[added].kind = NUMBER;
		return (struct held){ADDRESS, follower->held[added].value + at + (thumb ? 4 : 8),
				     at};
	}
	if (from >= PC)
		return (struct held){0};
	return (struct held){follower->held[from].kind,
			     follower->held[from].value + (effect->adds_number ? effect->value : 0),
			     at};
}

/* `conditional`: in an IT block, or not always executed by itself. */
static void step(struct follower *follower, uint32_t word, unsigned length, bool thumb, uint32_t at,
		 bool conditional)
{
	const struct litifut_arm_effect effect = thumb ? litifut_arm_thumb_effect(word, length, at)
						       : litifut_arm_plain_effect(word, at);
	const struct litifut_section *section = follower->section;
	const unsigned reg = only_register(effect.written);
	struct held made = {0};
	uint32_t target;

	if (reg < PC)
		made = result(follower, &effect, reg, word, thumb, at);
	/* In assembly one of two numbers may be added to the same address. */
	if (!conditional || !made.kind || !effect.adds_number)
		forget(follower, effect.written);
	if (is_call(word, length, thumb))
		forget(follower, CALL_CHANGES);
	if (made.kind == ADDRESS || (made.kind == LITERAL && effect.adds_number &&
				     made.value - section->address >= section->size))
		follower->take(follower->with, at, made.value);
	if (!thumb && is_short_jump(word, at, &target))
		follower->take(follower->with, at, target);
	/* Nothing is added to a sum, as a register may hold it before a loop that counts with it.
	 */
	if (made.kind && !(effect.adds_number && made.kind != NUMBER))
		follower->held[reg] = made;
}

void litifut_arm_form_addresses(const struct litifut_image *image,
				const struct litifut_arch_context *context,
				const struct litifut_section *section,
				const struct litifut_code_range *ranges, size_t count,
				litifut_take_formed *take, void *with)
{
	struct follower follower = {.section = section,
				    .take = take,
				    .with = with,
				    .fixed = image->file.type != ET_DYN};
	size_t next = litifut_image_functions_below(image, section->address);

	(void)context;
	for (size_t i = 0; i < count; i++) {
		const struct litifut_code_range *range = &ranges[i];
		const bool thumb = range->state == LITIFUT_CODE_THUMB;
		unsigned length, block = 0; /* instructions of an IT block to come */

		if (range->state == LITIFUT_CODE_DATA)
			continue;
		for (uint32_t at = range->start; at + (thumb ? 2 : 4) <= range->end; at += length) {
			const uint8_t *code = section->bytes + (at - section->address);
			uint32_t word =
				thumb ? litifut_get16(false, code) : litifut_get32(false, code);

			length = thumb && !litifut_arm_thumb_is_wide((uint16_t)word) ? 2 : 4;
			if (thumb && length == 4) {
				if (at + 4 > range->end)
					break;
				word = word << 16 | litifut_get16(false, code + 2);
			}
			for (;
			     next < image->function_count && image->function_addresses[next] <= at;
			     next++)
				forget(&follower, 0xffff);
			step(&follower, word, length, thumb, at,
			     thumb ? block > 0 : word >> 28 != 14);
			if (block)
				block--;
			else if (thumb && length == 2)
				block = litifut_arm_it_length((uint16_t)word);
		}
	}
	forget(&follower, 0xffff);
}
