#include "postproc/formats/source_files.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "postproc/table.h"

static bool is_inside(const char *path, const char *folder)
{
	size_t length = strlen(folder);

	return !strncmp(path, folder, length) &&
	       (path[length] == '/' || (length && folder[length - 1] == '/'));
}

char *post_source_find(const char *const *folders, const char *name)
{
	for (const char *const *given = folders; given && *given; given++) {
		char *folder = realpath(*given, NULL);
		char *found = *name == '/' ? realpath(name, NULL) : NULL;
		const char *end = name;
		while (folder && !(found && is_inside(found, folder)) && end) {
			char path[PATH_MAX];
			free(found);
			found = NULL;
			while (*end == '/')
				end++;
			if (snprintf(path, sizeof(path), "%s/%s", folder, end) < PATH_MAX)
				found = realpath(path, NULL);
			end = strchr(end, '/');
		}
		if (!folder || (found && !is_inside(found, folder))) {
			free(found);
			found = NULL;
		}
		free(folder);
		if (found)
			return found;
	}
	return NULL;
}

char *post_source_read(const char *path, size_t room)
{
	struct stat about;
	FILE *file = stat(path, &about) || !S_ISREG(about.st_mode) ? NULL : fopen(path, "re");
	char *text = NULL;

	if (!file)
		return NULL;
	if ((uint64_t)about.st_size < room) {
		size_t size = (size_t)about.st_size;
		text = post_allocate(size + 1, 1);
		if (fread(text, 1, size, file) != size || memchr(text, 0, size)) {
			free(text);
			text = NULL;
		}
	}
	fclose(file);
	return text;
}
