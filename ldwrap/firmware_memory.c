#include "ldwrap/firmware_memory.h"

#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool firmware_memory_region(const char *map, uint32_t address, struct firmware_region *region)
{
	FILE *file = fopen(map, "r");
	bool inside = false, found = false;
	char *line = NULL;
	size_t room = 0;

	while (file && !found && getline(&line, &room, file) >= 0) {
		if (inside && !strcmp(line, "Linker script and memory map\n"))
			break;
		inside |= !strcmp(line, "Memory Configuration\n");
		found = inside &&
			sscanf(line, "%127s 0x%llx 0x%llx", region->name, &region->origin,
			       &region->length) == 3 &&
			strcmp(region->name, "*default*") && address >= region->origin &&
			address - region->origin < region->length;
	}
	free(line);
	if (file)
		fclose(file);
	return found;
}

/* The start of .bss, or of another section that is cleared at the start. */
static bool find_bss(Elf *elf, uint32_t *address)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	size_t names;
	bool found = false;

	while (!elf_getshdrstrndx(elf, &names) && (section = elf_nextscn(elf, section))) {
		const char *name;

		if (!gelf_getshdr(section, &header) || header.sh_type != SHT_NOBITS ||
		    !(header.sh_flags & SHF_ALLOC) || !(header.sh_flags & SHF_WRITE))
			continue;
		name = elf_strptr(elf, names, header.sh_name);
		if (found && (!name || strcmp(name, ".bss") != 0))
			continue;
		*address = (uint32_t)header.sh_addr;
		found = true;
	}
	return found;
}

static uint32_t left_in(Elf *elf, const char *map)
{
	struct firmware_region region;
	unsigned long long end, used = 0;
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	uint32_t bss;

	if (!find_bss(elf, &bss) || !firmware_memory_region(map, bss, &region))
		return 0;
	end = region.origin + region.length;
	while ((section = elf_nextscn(elf, section)))
		if (gelf_getshdr(section, &header) && header.sh_flags & SHF_ALLOC &&
		    header.sh_addr >= region.origin && header.sh_addr < end &&
		    header.sh_addr + header.sh_size > used)
			used = header.sh_addr + header.sh_size;
	return used < end && end <= UINT32_MAX ? (uint32_t)(end - used) : 0;
}

uint32_t firmware_memory_left(const char *image, const char *map)
{
	int file = open(image, O_RDONLY | O_CLOEXEC);
	uint32_t left = 0;
	Elf *elf;

	elf_version(EV_CURRENT);
	elf = file < 0 ? NULL : elf_begin(file, ELF_C_READ_MMAP, NULL);
	if (elf && elf_kind(elf) == ELF_K_ELF)
		left = left_in(elf, map);
	elf_end(elf);
	if (file >= 0)
		close(file);
	return left;
}
