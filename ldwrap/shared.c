/* A library can need glibc without naming it: g++ -Wl,--as-needed leaves libstdc++ only, which
 * needs it. */
#include "ldwrap/shared.h"

#include <elf.h>
#include <fnmatch.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <libiberty/libiberty.h>

#include "elf/file.h"
#include "platform/platform.h"

static void add_user(const char *path, struct text_list *names)
{
	struct elf_file file;
	const char *needed;

	/* -lNAME can be a script of the linker. */
	if (elf_file_open(&file, path, NULL))
		return;
	for (size_t i = 0; (needed = elf_file_dynamic_text(&file, DT_NEEDED, i)); i++) {
		const char *name = elf_file_soname(&file);

		if (!platform_has_file(&platform_linux_glibc, needed, strlen(needed) + 1))
			continue;
		text_list_append(names, *name ? name : lbasename(path));
		break;
	}
	elf_file_close(&file);
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
	for (size_t i = 0; i < arguments->count; i++) {
		const struct argument *item = &arguments->items[i];

		if (item->kind == ARGUMENT_LIBRARY && item->value)
			add_library(arguments, item->value, names);
		else if (item->kind == ARGUMENT_INPUT && is_named_library(item->value))
			add_user(item->value, names);
	}
}
