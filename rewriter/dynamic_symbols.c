#include "rewriter/dynamic_symbols.h"

#include <elf.h>
#include <stddef.h>
#include <string.h>

uint32_t litifut_image_word(const struct litifut_image *image,
			    const struct litifut_section *section, uint32_t offset)
{
	return litifut_get32(image->file.big_endian, section->bytes + offset);
}

const struct litifut_section *litifut_image_linked(const struct litifut_image *image,
						   uint32_t index)
{
	return index < image->section_count && image->sections[index].bytes
		       ? &image->sections[index]
		       : NULL;
}

const char *litifut_dynamic_name(const struct litifut_image *image,
				 const struct litifut_section *symbols, uint32_t index)
{
	const struct litifut_section *strings = litifut_image_linked(image, symbols->link);
	uint32_t name;

	if (!strings || index >= symbols->size / sizeof(Elf32_Sym))
		return "";
	name = litifut_image_word(image, symbols,
				  index * (uint32_t)sizeof(Elf32_Sym) +
					  (uint32_t)offsetof(Elf32_Sym, st_name));
	return name < strings->size && memchr(strings->bytes + name, 0, strings->size - name)
		       ? (const char *)strings->bytes + name
		       : "";
}

static bool read_word(const void *context, uint32_t address, uint32_t *value)
{
	const struct litifut_image *image = context;
	const struct litifut_section *section = litifut_image_section_at(image, address, 4);

	if (section)
		*value = litifut_image_word(image, section, address - section->address);
	return section != NULL;
}

static bool read_half(const void *context, uint32_t address, uint16_t *value)
{
	const struct litifut_image *image = context;
	const struct litifut_section *section = litifut_image_section_at(image, address, 2);

	if (section)
		*value = litifut_get16(image->file.big_endian,
				       section->bytes + (address - section->address));
	return section != NULL;
}

struct litifut_code_reader litifut_image_reader(const struct litifut_image *image)
{
	return (struct litifut_code_reader){read_word, read_word, read_half, image};
}
