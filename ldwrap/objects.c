#include "ldwrap/objects.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include <gelf.h>

static enum litifut_status read_symbols(Elf *elf, const char *path, struct text_list *names,
					struct litifut_error *error)
{
	for (Elf_Scn *section = elf_nextscn(elf, NULL); section;
	     section = elf_nextscn(elf, section)) {
		Elf_Data *data = elf_getdata(section, NULL);
		GElf_Shdr header;
		GElf_Sym symbol;

		if (!gelf_getshdr(section, &header) || header.sh_type != SHT_SYMTAB || !data)
			continue;
		for (int i = 0; gelf_getsym(data, i, &symbol); i++) {
			const char *name = elf_strptr(elf, header.sh_link, symbol.st_name);

			if (GELF_ST_BIND(symbol.st_info) == STB_GLOBAL &&
			    symbol.st_shndx != SHN_UNDEF && name)
				text_list_append(names, name);
		}
		return LITIFUT_OK;
	}
	return litifut_error_set(error, LITIFUT_ERROR_MISSING, path, NULL, LITIFUT_NO_ADDRESS,
				 "no symbol table");
}

enum litifut_status object_defined_symbols(const char *path, struct text_list *names,
					   struct litifut_error *error)
{
	int file = open(path, O_RDONLY | O_CLOEXEC);
	enum litifut_status status;
	Elf *elf;

	if (file < 0)
		return litifut_error_set(error, LITIFUT_ERROR_IO, path, NULL, LITIFUT_NO_ADDRESS,
					 "%s", strerror(errno));
	elf_version(EV_CURRENT);
	elf = elf_begin(file, ELF_C_READ, NULL);
	status = elf ? read_symbols(elf, path, names, error)
		     : litifut_error_set(error, LITIFUT_ERROR_FORMAT, path, NULL,
					 LITIFUT_NO_ADDRESS, "%s", elf_errmsg(-1));
	elf_end(elf);
	close(file);
	return status;
}

static bool mark_excluded(Elf *elf)
{
	size_t names = 0;

	elf_flagelf(elf, ELF_C_SET, ELF_F_LAYOUT);
	if (elf_getshdrstrndx(elf, &names))
		return false;
	for (Elf_Scn *section = elf_nextscn(elf, NULL); section;
	     section = elf_nextscn(elf, section)) {
		GElf_Shdr header;
		const char *name;

		if (!gelf_getshdr(section, &header))
			return false;
		name = elf_strptr(elf, names, header.sh_name);
		if (!name || strcmp(name, ".eh_frame"))
			continue;
		header.sh_flags |= SHF_EXCLUDE;
		if (!gelf_update_shdr(section, &header))
			return false;
	}
	return elf_update(elf, ELF_C_WRITE) >= 0;
}

enum litifut_status object_drop_unwind_table(const char *path, struct litifut_error *error)
{
	int file = open(path, O_RDWR | O_CLOEXEC);
	Elf *elf;
	bool done;

	if (file < 0)
		return litifut_error_set(error, LITIFUT_ERROR_IO, path, NULL, LITIFUT_NO_ADDRESS,
					 "%s", strerror(errno));
	elf_version(EV_CURRENT);
	elf = elf_begin(file, ELF_C_RDWR, NULL);
	done = elf && mark_excluded(elf);
	if (!done)
		litifut_error_set(error, LITIFUT_ERROR_FORMAT, path, ".eh_frame",
				  LITIFUT_NO_ADDRESS, "%s", elf_errmsg(-1));
	elf_end(elf);
	close(file);
	return done ? LITIFUT_OK : LITIFUT_ERROR_FORMAT;
}
