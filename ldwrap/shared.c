/* A library can need glibc without naming it: g++ -Wl,--as-needed leaves libstdc++ only, which
 * needs it. */
#include "ldwrap/shared.h"

#include <elf.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <gelf.h>
#include <libiberty/libiberty.h>

#include "platform/platform.h"

/* False: nothing of this section can be read. */
static bool read_dynamic(Elf *elf, Elf_Scn *section, const char **name, bool *needs_glibc)
{
	Elf_Data *data = elf_getdata(section, NULL);
	GElf_Shdr header;
	GElf_Dyn item;

	if (!data || !gelf_getshdr(section, &header) || header.sh_type != SHT_DYNAMIC)
		return false;
	for (int i = 0; gelf_getdyn(data, i, &item) && item.d_tag != DT_NULL; i++) {
		const char *text;

		if (item.d_tag != DT_SONAME && item.d_tag != DT_NEEDED)
			continue;
		text = elf_strptr(elf, header.sh_link, item.d_un.d_val);
		if (text && item.d_tag == DT_SONAME)
			*name = text;
		else if (text && platform_has_file(&platform_linux_glibc, text, strlen(text) + 1))
			*needs_glibc = true;
	}
	return true;
}

static void add_user(const char *path, struct text_list *names)
{
	int file = open(path, O_RDONLY | O_CLOEXEC);
	Elf *elf = file < 0 ? NULL : elf_begin(file, ELF_C_READ_MMAP, NULL);
	const char *name = lbasename(path);
	bool needs_glibc = false;

	for (Elf_Scn *section = NULL; elf && (section = elf_nextscn(elf, section));)
		if (read_dynamic(elf, section, &name, &needs_glibc))
			break;
	if (needs_glibc)
		text_list_append(names, name);
	elf_end(elf);
	if (file >= 0)
		close(file);
}

/* The first libNAME.so on the way; a linker does not look further either. */
static void add_library(const struct arguments *arguments, const char *name,
			struct text_list *names)
{
	bool found = false;

	for (size_t i = 0; i < arguments->count && !found; i++) {
		const struct argument *folder = &arguments->items[i];
		char *path;

		if (folder->kind != ARGUMENT_LIBRARY_PATH || !folder->value)
			continue;
		path = name[0] == ':' ? concat(folder->value, "/", name + 1, NULL)
				      : concat(folder->value, "/lib", name, ".so", NULL);
		found = !access(path, R_OK);
		if (found)
			add_user(path, names);
		free(path);
	}
}

/* To look into each object would take long. */
static bool is_named_library(const char *path)
{
	return !fnmatch("*.so", path, 0) || !fnmatch("*.so.*", path, 0);
}

void shared_glibc_users(const struct arguments *arguments, struct text_list *names)
{
	elf_version(EV_CURRENT);
	for (size_t i = 0; i < arguments->count; i++) {
		const struct argument *item = &arguments->items[i];

		if (item->kind == ARGUMENT_LIBRARY && item->value)
			add_library(arguments, item->value, names);
		else if (item->kind == ARGUMENT_INPUT && is_named_library(item->value))
			add_user(item->value, names);
	}
}
