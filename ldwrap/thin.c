#include "ldwrap/thin.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <libiberty/libiberty.h>

#include "ldwrap/archive.h"
#include "ldwrap/map.h"

/* A glob that only this path matches. */
static char *quoted(const char *path)
{
	char *glob = xmalloc(2 * strlen(path) + 1);
	char *to = glob;

	for (; *path; path++) {
		if (strchr("*?[\\", *path))
			*to++ = '\\';
		*to++ = *path;
	}
	*to = '\0';
	return glob;
}

static void add_archive(const char *path, struct text_list *objects)
{
	struct archive archive;
	struct archive_member member;
	struct file_view view;
	size_t offset;

	if (!file_view_open(path, &view))
		return;
	if (!archive_open(path, &view, &archive)) {
		file_view_close(&view);
		return;
	}
	for (offset = archive.first; archive.thin && archive_member_at(&archive, offset, &member);
	     offset = member.next) {
		char *glob = member.path ? quoted(member.path) : NULL;

		if (glob)
			text_list_append(objects, glob);
		free(glob);
		free(member.path);
	}
	archive_close(&archive);
}

static void add_library(const struct arguments *arguments, const char *name,
			const struct text_list *libraries, struct text_list *objects)
{
	for (size_t i = 0; i < arguments->count; i++) {
		const struct argument *folder = &arguments->items[i];
		char *path;

		if (folder->kind != ARGUMENT_LIBRARY_PATH || !folder->value)
			continue;
		path = name[0] == ':' ? concat(folder->value, "/", name + 1, NULL)
				      : concat(folder->value, "/lib", name, ".a", NULL);
		if (map_library_matches(path, libraries))
			add_archive(path, objects);
		free(path);
	}
}

void thin_members(const struct arguments *arguments, const struct text_list *libraries,
		  struct text_list *objects)
{
	if (!libraries->count)
		return;
	for (size_t i = 0; i < arguments->count; i++) {
		const struct argument *item = &arguments->items[i];

		if (item->kind == ARGUMENT_LIBRARY && item->value)
			add_library(arguments, item->value, libraries, objects);
		else if (item->kind == ARGUMENT_INPUT &&
			 map_library_matches(item->value, libraries))
			add_archive(item->value, objects);
	}
}
