/* The functions that the kernel maps into each process (vDSO). */

#include "tracer/port/linux/vdso.h"

#include <linux/elf.h>
#include <stddef.h>

#include "tracer/recorder/state.h"
#include "tracer/recorder/text.h"

/* The table entry of this type in the vDSO's dynamic section, as an address. */
static uint32_t litifut_vdso_table(uint32_t base, uint32_t type, uint32_t bias)
{
	const Elf32_Ehdr *header = (const Elf32_Ehdr *)base;
	const Elf32_Phdr *segment = (const Elf32_Phdr *)(base + header->e_phoff);

	for (uint32_t i = 0; i < header->e_phnum; i++) {
		const Elf32_Dyn *entry;

		if (segment[i].p_type != PT_DYNAMIC)
			continue;
		entry = (const Elf32_Dyn *)(bias + segment[i].p_vaddr);
		for (; entry->d_tag != DT_NULL; entry++)
			if ((uint32_t)entry->d_tag == type)
				return bias + entry->d_un.d_ptr;
	}
	return 0;
}

static uint32_t litifut_vdso_bias(uint32_t base)
{
	const Elf32_Ehdr *header = (const Elf32_Ehdr *)base;
	const Elf32_Phdr *segment = (const Elf32_Phdr *)(base + header->e_phoff);

	for (uint32_t i = 0; i < header->e_phnum; i++)
		if (segment[i].p_type == PT_LOAD)
			return base + segment[i].p_offset - segment[i].p_vaddr;
	return base;
}

uint32_t litifut_vdso_function(const char *name)
{
	uint32_t base = litifut_recorder.vdso;
	uint32_t bias;
	uint32_t symbols;
	uint32_t strings;
	uint32_t hash;

	if (!base)
		return 0;
	bias = litifut_vdso_bias(base);
	symbols = litifut_vdso_table(base, DT_SYMTAB, bias);
	strings = litifut_vdso_table(base, DT_STRTAB, bias);
	hash = litifut_vdso_table(base, DT_HASH, bias);
	if (!symbols || !strings || !hash)
		return 0;
	for (uint32_t i = 0; i < ((const uint32_t *)hash)[1]; i++) {
		const Elf32_Sym *symbol = (const Elf32_Sym *)symbols + i;

		if (symbol->st_shndx &&
		    litifut_equal((const char *)strings + symbol->st_name, name))
			return bias + symbol->st_value;
	}
	return 0;
}
