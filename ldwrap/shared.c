/* A library can need glibc without naming it: g++ -Wl,--as-needed leaves libstdc++ only, which
 * needs it. */
#include "ldwrap/shared.h"

#include <elf.h>
#include <fnmatch.h>
#include <stdbool.h>
#include <stdio.h>
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

/* The first libNAME.so on the way, to be freed, or NULL; a linker does not look further either. */
static char *find_library(const struct arguments *arguments, const char *name)
{
	for (size_t i = 0; i < arguments->count; i++) {
		const struct argument *folder = &arguments->items[i];
		char *path;

		if (folder->kind != ARGUMENT_LIBRARY_PATH || !folder->value)
			continue;
		path = name[0] == ':' ? concat(folder->value, "/", name + 1, NULL)
				      : concat(folder->value, "/lib", name, ".so", NULL);
		if (!access(path, R_OK))
			return path;
		free(path);
	}
	return NULL;
}

/* Such as `GROUP ( /lib/libc.so.6 /usr/lib/libc_nonshared.a )'. */
static bool script_names_glibc(const char *path)
{
	FILE *file = fopen(path, "r");
	char text[4096];
	bool found = false;

	if (!file)
		return false;
	text[fread(text, 1, sizeof(text) - 1, file)] = 0;
	fclose(file);
	for (char *rest = text, *word; !found && (word = strtok_r(rest, " \t\n(),", &rest));)
		found = platform_has_file(&platform_linux_glibc, word, strlen(word) + 1);
	return found;
}

static bool is_glibc(const char *path)
{
	struct elf_file file;
	const char *name;
	bool found;

	if (elf_file_open(&file, path, NULL))
		return script_names_glibc(path);
	name = elf_file_soname(&file);
	found = platform_has_file(&platform_linux_glibc, name, strlen(name) + 1);
	elf_file_close(&file);
	return found;
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

		if (item->kind == ARGUMENT_LIBRARY && item->value) {
			char *path = find_library(arguments, item->value);

			if (path)
				add_user(path, names);
			free(path);
		} else if (item->kind == ARGUMENT_INPUT && is_named_library(item->value)) {
			add_user(item->value, names);
		}
	}
}

bool shared_has_glibc(const struct arguments *arguments)
{
	bool found = false;

	for (size_t i = 0; i < arguments->count && !found; i++) {
		const struct argument *item = &arguments->items[i];
		char *path = NULL;

		if (item->kind == ARGUMENT_LIBRARY && item->value && !strcmp(item->value, "c"))
			path = find_library(arguments, item->value);
		found = path && is_glibc(path);
		free(path);
	}
	return found;
}
