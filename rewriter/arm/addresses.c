/* Literals and the halves that movw and movt put together, the sums of both and the pc, what adr
 * makes, and a number that is added to any of these. Encodings: DDI 0406C A5 (A32), A6 (T32). */
#include "rewriter/arm/addresses.h"

#include "cpu/arm/arm.h"
#include "rewriter/arm/formed.h"

/* Values of a literal and the pc: `ldr rN, =value; add rN, pc`, where the literal is in reach. */
#define LITERAL_REACH 4096u

static void add_sums(const struct litifut_section *section, const struct litifut_code_range *range,
		     const struct litifut_code_range *ranges, size_t count,
		     struct litifut_targets *targets, uint32_t value)
{
	const uint32_t at = value - (range->state == LITIFUT_CODE_THUMB ? 4 : 8);
	size_t first = (size_t)(range - ranges);

	while (first && at - ranges[first - 1].end <= LITERAL_REACH)
		first--;
	for (size_t i = first;
	     i < count && (ranges[i].start <= at || ranges[i].start - at <= LITERAL_REACH); i++) {
		if (ranges[i].state != LITIFUT_CODE_DATA)
			continue;
		for (uint32_t word = (ranges[i].start + 3) & ~3u; word + 4 <= ranges[i].end;
		     word += 4)
			litifut_targets_add(
				targets,
				value + litifut_get32(false,
						      section->bytes + (word - section->address)));
	}
}

/* What movw and movt have made in each register. */
struct halves {
	uint32_t values[16];
	uint16_t both; /* registers that movt has completed */
};

/* movw and movt of the same register. True: the second one has made *made. */
static bool take_halves(uint32_t word, bool thumb, struct halves *halves, uint32_t *made)
{
	const uint32_t operation = thumb ? word & 0xfbf08000 : word & 0x0ff00000;
	const unsigned reg = thumb ? word >> 8 & 15 : word >> 12 & 15;
	const uint32_t value = thumb ? (word >> 4 & 0xf000) | (word >> 15 & 0x800) |
					       (word >> 4 & 0x700) | (word & 0xff)
				     : (word >> 4 & 0xf000) | (word & 0xfff);

	if (operation == (thumb ? 0xf2400000u : 0x03000000u)) {
		halves->values[reg] = value;
		halves->both &= (uint16_t) ~(1u << reg);
	} else if (operation == (thumb ? 0xf2c00000u : 0x03400000u)) {
		halves->values[reg] = value << 16 | (halves->values[reg] & 0xffff);
		halves->both |= (uint16_t)(1u << reg);
		*made = halves->values[reg];
		return true;
	}
	return false;
}

/* adr, in both forms, and add of the pc. */
static void add_formed(uint32_t word, bool thumb, uint32_t address, struct litifut_targets *targets)
{
	const uint32_t pc = thumb ? (address + 4) & ~3u : address + 8;
	const uint32_t wide = (word >> 15 & 0x800) | (word >> 4 & 0x700) | (word & 0xff);
	const unsigned turn = word >> 7 & 30;
	const uint32_t plain = (word & 0xff) >> turn | (turn ? (word & 0xff) << (32 - turn) : 0);

	if (thumb && word < 0x10000 && word >> 11 == 0x14)
		litifut_targets_add(targets, pc + 4 * (word & 0xff));
	else if (thumb && (word & 0xfbff8000) == 0xf20f0000)
		litifut_targets_add(targets, pc + wide);
	else if (thumb && (word & 0xfbff8000) == 0xf2af0000)
		litifut_targets_add(targets, pc - wide);
	else if (!thumb && (word & 0x0fff0000) == 0x028f0000)
		litifut_targets_add(targets, pc + plain);
	else if (!thumb && (word & 0x0fff0000) == 0x024f0000)
		litifut_targets_add(targets, pc - plain);
}

static void take(void *targets, uint32_t at, uint32_t address)
{
	(void)at;
	litifut_targets_add(targets, address);
}

void litifut_arm_add_addresses(const struct litifut_image *image,
			       const struct litifut_arch_context *context,
			       const struct litifut_section *section,
			       const struct litifut_code_range *ranges, size_t count,
			       const struct litifut_called *called, struct litifut_targets *targets)
{
	(void)called;
	litifut_arm_form_addresses(image, context, section, ranges, count, take, targets);
	for (size_t i = 0; i < count; i++) {
		const struct litifut_code_range *range = &ranges[i];
		const bool thumb = range->state == LITIFUT_CODE_THUMB;
		struct halves halves = {0};
		unsigned length;

		if (range->state == LITIFUT_CODE_DATA) {
			for (uint32_t at = (range->start + 3) & ~3u; at + 4 <= range->end; at += 4)
				litifut_targets_add(
					targets,
					litifut_get32(false,
						      section->bytes + (at - section->address)));
			continue;
		}
		for (uint32_t at = range->start; at + (thumb ? 2 : 4) <= range->end; at += length) {
			const uint8_t *code = section->bytes + (at - section->address);
			unsigned added;
			uint32_t made;
			uint32_t word =
				thumb ? litifut_get16(false, code) : litifut_get32(false, code);

			length = thumb && !litifut_arm_thumb_is_wide((uint16_t)word) ? 2 : 4;
			if (thumb && length == 4) {
				if (at + 4 > range->end)
					break;
				word = word << 16 | litifut_get16(false, code + 2);
			}
			if (length == 4 && take_halves(word, thumb, &halves, &made))
				litifut_targets_add(targets, made);
			add_formed(word, thumb, at, targets);
			added = litifut_arm_added_to_pc(word,
							thumb); /* ldr rN, [pc, rM] reads a table */
			if (added == 16)
				continue;
			add_sums(section, range, ranges, count, targets, at + (thumb ? 4 : 8));
			if (halves.both >> added & 1)
				litifut_targets_add(targets,
						    halves.values[added] + at + (thumb ? 4 : 8));
		}
	}
}

/* Where the function that ends with a block at `end` has its literals, too: up to the next one. */
static uint32_t literals_end(const struct litifut_image *image,
			     const struct litifut_section *section, uint32_t end)
{
	const uint32_t last = section->address + section->size;
	const size_t next = litifut_image_functions_below(image, end);

	return next < image->function_count && image->function_addresses[next] < last
		       ? image->function_addresses[next]
		       : last;
}

/* Does the word lead there? It may be an address, or that of a slot, as it is, from the GOT
 * or from an instruction of the function. */
static bool leads_to(const struct litifut_section *got, uint32_t word, uint32_t start, uint32_t end,
		     const struct litifut_spawners *places)
{
	if (word && litifut_spawners_has(places, word))
		return true;
	if (got && got->bytes && !(word & 3) && got->size >= 4 && word <= got->size - 4 &&
	    litifut_spawners_has(places, litifut_get32(false, got->bytes + word)))
		return true; /* of a static program, whose GOT is filled */
	for (size_t i = 0; i < LITIFUT_SPAWNER_SLOTS && places->slots[i]; i++) {
		const uint32_t slot = places->slots[i];

		if (word == slot || (got && word == slot - got->address) ||
		    (slot - word > start && slot - word <= end + 8))
			return true;
	}
	return false;
}

bool litifut_arm_may_call(const struct litifut_image *image,
			  const struct litifut_arch_context *context,
			  const struct litifut_section *section, uint32_t start, uint32_t end,
			  uint32_t call, const char *const *names,
			  const struct litifut_spawners *places)
{
	const struct litifut_section *got = litifut_image_section(image, ".got");
	const uint32_t behind = literals_end(image, section, end);
	struct halves wide = {0}, plain = {0};

	(void)context;
	(void)call;
	(void)names;
	for (uint32_t at = start & ~1u; at + 4 <= behind; at += 2) {
		const uint8_t *code = section->bytes + (at - section->address);
		const uint32_t word = litifut_get32(false, code);
		const uint32_t turned = word << 16 | word >> 16;
		uint32_t made;

		/* what is of the other state makes no such address */
		if ((take_halves(turned, true, &wide, &made) &&
		     litifut_spawners_has(places, made)) ||
		    (!(at & 3) && ((take_halves(word, false, &plain, &made) &&
				    litifut_spawners_has(places, made)) ||
				   leads_to(got, word, start, end, places))))
			return true;
	}
	return false;
}
