#include "ldwrap/firmware_inputs.h"

#include <elf.h>
#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <stdbool.h>
#include <unistd.h>

#include "rewriter/firmware.h"

/* As the header or .ARM.attributes of this ELF file says. *known is set for objects of all CPUs. */
static const char *runtime_of_object(Elf *elf, bool *known)
{
	GElf_Ehdr header;
	Elf_Scn *section = NULL;
	GElf_Shdr shdr;
	const char *runtime;

	if (!gelf_getehdr(elf, &header))
		return NULL;
	*known = true;
	runtime = litifut_firmware_runtime(header.e_machine, header.e_flags, NULL, 0);
	if (runtime)
		return runtime;
	while ((section = elf_nextscn(elf, section))) {
		Elf_Data *data;

		if (!gelf_getshdr(section, &shdr) || shdr.sh_type != SHT_ARM_ATTRIBUTES)
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
