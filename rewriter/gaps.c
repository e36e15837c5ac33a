#include "rewriter/gaps.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "common/memory.h"
#include "rewriter/program_code.h"

bool litifut_gaps_add(struct litifut_gaps *gaps, const struct litifut_image *image,
		      const struct litifut_symbol *owner, const struct litifut_instruction *branch)
{
	const uint32_t start = branch->target & ~1u;
	const struct litifut_section *section;

	if (start - owner->address < owner->size || litifut_image_function_at(image, start))
		return true;
	section = litifut_image_section_at(image, start, 4);
	if (!section || !litifut_sites_in(section))
		return true;
	if (gaps->count == gaps->capacity) {
		size_t capacity = 2 * gaps->capacity + 64;
		void *items = realloc(gaps->items, capacity * sizeof(*gaps->items));

		if (!items)
			return false;
		gaps->items = items;
		gaps->capacity = capacity;
	}
	gaps->items[gaps->count++] =
		(struct litifut_gap){.start = start,
				     .owner = (uint32_t)(owner - image->symbols),
				     .section = (uint16_t)(section - image->sections),
				     .thumb = branch->thumb};
	return true;
}

bool litifut_gaps_reserve(struct litifut_image *image, size_t count)
{
	void *symbols = litifut_memory_resized(image->symbols, image->symbol_count + count,
					       sizeof(*image->symbols));

	if (symbols)
		image->symbols = symbols;
	return symbols != NULL;
}

static uint32_t end_of(const struct litifut_image *image, const struct litifut_arch *arch,
		       const struct litifut_arch_context *context, const struct litifut_gap *gap,
		       uint32_t end)
{
	const struct litifut_section *section = &image->sections[gap->section];
	uint32_t address = gap->start;

	while (address < end) {
		struct litifut_instruction instruction;
		unsigned length = arch->cpu->decode(
			&context->cpu, section->bytes + (address - section->address), end - address,
			address, gap->thumb ? LITIFUT_CODE_THUMB : LITIFUT_CODE_PLAIN,
			&instruction);

		if (!length)
			return address;
		if (!instruction.conditional &&
		    (instruction.class == LITIFUT_CLASS_BRANCH_DIRECT ||
		     instruction.class == LITIFUT_CLASS_BRANCH_INDIRECT ||
		     instruction.class == LITIFUT_CLASS_BRANCH_COMPUTED)) {
			/* behind a delay slot, where there is one */
			uint32_t next = arch->cpu->return_address(&instruction, address) & ~1u;

			return next < end ? next : end;
		}
		address += length;
	}
	return end;
}

const struct litifut_symbol *litifut_gaps_name(struct litifut_image *image,
					       const struct litifut_arch *arch,
					       const struct litifut_arch_context *context,
					       const struct litifut_gap *gap, uint32_t end,
					       size_t number)
{
	struct litifut_symbol *symbol = &image->symbols[image->symbol_count + number];

	*symbol = image->symbols[gap->owner];
	symbol->address = gap->start;
	symbol->size = end_of(image, arch, context, gap, end) - gap->start;
	symbol->section = gap->section;
	return symbol;
}

void litifut_gaps_release(struct litifut_gaps *gaps)
{
	free(gaps->items);
	memset(gaps, 0, sizeof(*gaps));
}
