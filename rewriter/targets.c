/* Where can control arrive other than from the instruction before? */
#include "rewriter/targets.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "rewriter/image.h"

enum litifut_status litifut_targets_create(uint32_t start, uint32_t end,
					   struct litifut_targets *targets,
					   struct litifut_error *error)
{
	targets->start = start;
	targets->end = end < start ? start : end;
	targets->bits = calloc((targets->end - start) / 16 + 1, 1);
	if (!targets->bits)
		return litifut_error_set(error, LITIFUT_ERROR_IO, NULL, NULL, LITIFUT_NO_ADDRESS,
					 "out of memory");
	return LITIFUT_OK;
}

void litifut_targets_release(struct litifut_targets *targets)
{
	free(targets->bits);
	memset(targets, 0, sizeof(*targets));
}

void litifut_targets_add(struct litifut_targets *targets, uint32_t address)
{
	uint32_t half = (address - targets->start) / 2;

	if (address >= targets->start && address < targets->end)
		targets->bits[half / 8] |= (uint8_t)(1u << half % 8);
}

bool litifut_targets_has(const struct litifut_targets *targets, uint32_t address)
{
	uint32_t half = (address - targets->start) / 2;

	return address >= targets->start && address < targets->end &&
	       targets->bits[half / 8] >> half % 8 & 1;
}

static bool is_mapping_symbol(const char *name)
{
	return name[0] == '$';
}

void litifut_targets_add_offsets(struct litifut_targets *targets, const struct litifut_image *image,
				 uint32_t base)
{
	for (size_t i = 1; i < image->section_count; i++) {
		const struct litifut_section *section = &image->sections[i];

		if (!section->bytes || !(section->flags & SHF_ALLOC) ||
		    (section->type != SHT_PROGBITS && section->type != SHT_INIT_ARRAY &&
		     section->type != SHT_FINI_ARRAY && section->type != SHT_PREINIT_ARRAY))
			continue;
		for (uint32_t at = 0; at + 4 <= section->size; at += 4)
			litifut_targets_add(targets, base + litifut_get32(image->big_endian,
									  section->bytes + at));
	}
}

void litifut_targets_add_data(struct litifut_targets *targets, const struct litifut_image *image)
{
	for (size_t i = 0; i < image->symbol_count; i++)
		if (!is_mapping_symbol(image->symbols[i].name))
			litifut_targets_add(targets, image->symbols[i].address);
	litifut_targets_add_offsets(targets, image, 0);
}
