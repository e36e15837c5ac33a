#include "ldwrap/firmware_inputs.h"

#include <elf.h>
#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "rewriter/firmware.h"

/* As the header of this ELF file says, or its section with attributes. *known is set for objects of
 * all CPUs. */
static const char *runtime_of_object(Elf *elf, bool *known)
{
	GElf_Ehdr header;
	Elf_Scn *section = NULL;
	GElf_Shdr shdr;
	const char *runtime, *attributes;
	size_t names;

	if (!gelf_getehdr(elf, &header))
		return NULL;
	*known = true;
	runtime = litifut_firmware_runtime(header.e_machine, header.e_flags, NULL, 0);
	if (runtime)
		return runtime;
	attributes = litifut_firmware_attributes(header.e_machine);
	if (!attributes || elf_getshdrstrndx(elf, &names))
		return NULL;
	while ((section = elf_nextscn(elf, section))) {
		Elf_Data *data;
		const char *name;

		if (!gelf_getshdr(section, &shdr) ||
		    !(name = elf_strptr(elf, names, shdr.sh_name)) || strcmp(name, attributes) != 0)
			continue;
		data = elf_getdata(section, NULL);
		return data && data->d_buf
			       ? litifut_firmware_runtime(header.e_machine, header.e_flags,
							  data->d_buf, (uint32_t)data->d_size)
			       : NULL;
	}
	return NULL;
}

static const char *runtime_of_file(const char *path, bool *known)
{
	int file = open(path, O_RDONLY | O_CLOEXEC);
	Elf *outer = file < 0 ? NULL : elf_begin(file, ELF_C_READ_MMAP, NULL);
	Elf_Cmd command = ELF_C_READ_MMAP;
	const char *runtime = NULL;

	if (outer && elf_kind(outer) == ELF_K_ELF)
		runtime = runtime_of_object(outer, known);
	while (outer && elf_kind(outer) == ELF_K_AR && !*known) {
		Elf *member = elf_begin(file, command, outer);

		if (!member)
			break;
		if (elf_kind(member) == ELF_K_ELF)
			runtime = runtime_of_object(member, known);
		command = elf_next(member);
		elf_end(member);
	}
	if (outer)
		elf_end(outer);
	if (file >= 0)
		close(file);
	return runtime;
}

const char *firmware_runtime(const struct arguments *arguments)
{
	elf_version(EV_CURRENT);
	for (size_t i = 0; i < arguments->count; i++) {
		const struct argument *item = &arguments->items[i];
		bool known = false;
		const char *runtime;

		if (item->kind != ARGUMENT_INPUT || item->foreign)
			continue;
		runtime = runtime_of_file(item->value, &known);
		if (known)
			return runtime;
	}
	return NULL;
}
