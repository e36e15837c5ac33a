#include "platform/platform.h"

#include <fnmatch.h>
#include <string.h>

static const struct platform *const all[] = {&platform_linux_glibc, &platform_linux,
					     &platform_none};

bool platform_has_file(const struct platform *platform, const char *path, size_t length)
{
	const char *base = path;

	for (size_t i = 0; i < length && path[i]; i++)
		if (path[i] == '/')
			base = path + i + 1;
	length -= (size_t)(base - path);
	for (const char *const *file = platform->files; file && *file; file++)
		if (length > strlen(*file) && strncmp(base, *file, strlen(*file)) == 0)
			return true;
	return false;
}

bool platform_lists(const char *const *list, const char *name)
{
	for (; list && *list; list++)
		if (strcmp(*list, name) == 0)
			return true;
	return false;
}

bool platform_is_loader(const char *name)
{
	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
		for (const char *const *glob = all[i]->loaders; glob && *glob; glob++)
			if (!fnmatch(*glob, name, 0))
				return true;
	return false;
}
