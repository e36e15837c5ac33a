/* Exception landing pads: code that only the unwinder jumps to, so that no
 * branch and no pointer leads to it.
 *
 * "Exception Handling ABI for the Arm Architecture": .ARM.exidx has two words
 * for each function, its address and its unwind data, both relative to where
 * they stand (31 bits). Data in the generic model begin with the address of a
 * personality routine, then a byte with the number of further words of unwind
 * instructions, then the data of the language: the table that other CPUs have in
 * .gcc_except_table. */
#include "rewriter/arm/landing_pads.h"

#include <elf.h>
#include <stddef.h>

#include "rewriter/landing_pads.h"

#define CANNOT_UNWIND 1u
#define COMPACT_MODEL 0x80000000u

/* The 31-bit relative address `value` that stands at `place`. */
static uint32_t relative(uint32_t value, uint32_t place)
{
	return place + ((value << 1 & 0x80000000u) | (value & 0x7fffffffu));
}

static void read_entry(const struct litifut_image *image, uint32_t function, uint32_t data,
		       litifut_take_region *take, void *context)
{
	const struct litifut_section *section = litifut_image_section_at(image, data, 8);

	if (!section)
		return;
	const uint8_t *bytes = section->bytes + (data - section->address);
	uint32_t left = section->size - (data - section->address);

	if (litifut_get32(false, bytes) & COMPACT_MODEL)
		return;
	uint32_t skip = 4 + 4 * (1 + (litifut_get32(false, bytes + 4) >> 24));

	if (skip >= left)
		return;
	struct litifut_reader reader = {.at = bytes + skip, .end = bytes + left};

	litifut_landing_pads_read(&reader, function, take, context);
}

/* Takes the functions whose unwind data stand in a table, and where they do. */
static void read_index(const struct litifut_image *image,
		       void (*take)(const struct litifut_image *image, uint32_t function,
				    uint32_t data, void *context),
		       void *context)
{
	for (size_t i = 1; i < image->section_count; i++) {
		const struct litifut_section *section = &image->sections[i];

		if (section->type != SHT_ARM_EXIDX || !section->bytes)
			continue;
		for (uint32_t at = 0; at + 8 <= section->size; at += 8) {
			uint32_t place = section->address + at;
			uint32_t function = litifut_get32(false, section->bytes + at);
			uint32_t data = litifut_get32(false, section->bytes + at + 4);

			if (data != CANNOT_UNWIND && !(data & COMPACT_MODEL))
				take(image, relative(function, place) & ~1u,
				     relative(data, place + 4), context);
		}
	}
}

struct pads {
	litifut_take_region *take;
	void *context;
};

static void take_pads(const struct litifut_image *image, uint32_t function, uint32_t data,
		      void *context)
{
	const struct pads *pads = context;

	read_entry(image, function, data, pads->take, pads->context);
}

void litifut_arm_landing_pads(const struct litifut_image *image, litifut_take_region *take,
			      void *context)
{
	struct pads pads = {take, context};

	read_index(image, take_pads, &pads);
}

static void take_personality(const struct litifut_image *image, uint32_t function, uint32_t data,
			     void *context)
{
	const struct litifut_section *section = litifut_image_section_at(image, data, 4);
	uint32_t word;

	(void)function;
	if (!section)
		return;
	word = litifut_get32(false, section->bytes + (data - section->address));
	if (!(word & COMPACT_MODEL))
		litifut_targets_add(context, relative(word, data) & ~1u);
}

void litifut_arm_personalities(const struct litifut_image *image, struct litifut_targets *targets)
{
	read_index(image, take_personality, targets);
}
