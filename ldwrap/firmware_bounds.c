#include "ldwrap/firmware_bounds.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <libiberty/libiberty.h>

#include "elf/file.h"
#include "ldwrap/firmware_memory.h"

struct image {
	struct elf_file file;
	uint32_t bss, bss_end;
	Elf_Data *symbols;
	size_t names; /* the section with their names */
	size_t count;
};

/* False: it has no .bss or no symbols. It is to be closed in each case. */
static bool open_image(struct image *image, const char *path)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	size_t names;

	memset(image, 0, sizeof(*image));
	if (elf_file_open(&image->file, path, NULL) || elf_getshdrstrndx(image->file.elf, &names))
		return false;
	while ((section = elf_nextscn(image->file.elf, section))) {
		const char *name;

		if (!gelf_getshdr(section, &header))
			continue;
		name = elf_strptr(image->file.elf, names, header.sh_name);
		if (header.sh_type == SHT_NOBITS && name && !strcmp(name, ".bss")) {
			image->bss = (uint32_t)header.sh_addr;
			image->bss_end = (uint32_t)(header.sh_addr + header.sh_size);
		} else if (header.sh_type == SHT_SYMTAB && header.sh_entsize) {
			image->symbols = elf_getdata(section, NULL);
			image->count = (size_t)(header.sh_size / header.sh_entsize);
			image->names = header.sh_link;
		}
	}
	return image->bss_end && image->symbols;
}

/* The name of a symbol with an address; NULL: it has none. */
static const char *symbol_at(const struct image *image, size_t number, uint32_t *address)
{
	GElf_Sym symbol;

	if (!gelf_getsym(image->symbols, (int)number, &symbol) || symbol.st_shndx == SHN_UNDEF ||
	    GELF_ST_TYPE(symbol.st_info) == STT_SECTION ||
	    GELF_ST_TYPE(symbol.st_info) == STT_FILE || !symbol.st_name)
		return NULL;
	*address = (uint32_t)symbol.st_value;
	return elf_strptr(image->file.elf, image->names, symbol.st_name);
}

void firmware_bounds_read(struct firmware_bounds *bounds, const char *path, const char *map)
{
	struct firmware_region region;
	struct image image;

	if (open_image(&image, path) && !firmware_memory_region(map, image.bss, &region))
		for (size_t i = 0; i < image.count; i++) {
			uint32_t address = 0;
			const char *name = symbol_at(&image, i, &address);

			if (!name || address < image.bss_end)
				continue;
			bounds->items = xrealloc(bounds->items,
						 (bounds->count + 1) * sizeof(*bounds->items));
			bounds->items[bounds->count].name = xstrdup(name);
			bounds->items[bounds->count++].address = address;
		}
	elf_file_close(&image.file);
}

static bool is_bound(const struct firmware_bounds *bounds, const char *name, uint32_t address)
{
	for (size_t i = 0; i < bounds->count; i++)
		if (bounds->items[i].address == address && !strcmp(bounds->items[i].name, name))
			return true;
	return false;
}

enum litifut_status firmware_bounds_check(const struct firmware_bounds *bounds, const char *path,
					  struct litifut_error *error)
{
	enum litifut_status status = LITIFUT_OK;
	uint32_t lowest = UINT32_MAX;
	struct image image;

	if (!bounds->count)
		return LITIFUT_OK;
	if (open_image(&image, path))
		for (size_t i = 0; i < image.count; i++) {
			uint32_t address = 0;
			const char *name = symbol_at(&image, i, &address);

			if (!name || address <= image.bss || address >= image.bss_end ||
			    address >= lowest || !is_bound(bounds, name, address))
				continue;
			lowest = address;
			status = litifut_error_set(error, LITIFUT_ERROR_UNSUPPORTED, NULL, NULL,
						   LITIFUT_NO_ADDRESS,
						   "no room for the tracer: the memory up to %s "
						   "(0x%08x) overflowed by "
						   "%u bytes",
						   name, address, image.bss_end - address);
		}
	elf_file_close(&image.file);
	return status;
}

void firmware_bounds_release(struct firmware_bounds *bounds)
{
	for (size_t i = 0; i < bounds->count; i++)
		free(bounds->items[i].name);
	free(bounds->items);
	memset(bounds, 0, sizeof(*bounds));
}
