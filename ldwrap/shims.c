#include "ldwrap/shims.h"

#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <libiberty/libiberty.h>

#include "ldwrap/linker.h"
#include "ldwrap/linkers.h"
#include "ldwrap/text_list.h"

/* FNV-1a, to give each installation a folder of its own. */
static uint32_t hash_of(const char *text)
{
	uint32_t hash = 0x811c9dc5u;

	for (; *text; text++)
		hash = (hash ^ (unsigned char)*text) * 0x01000193u;
	return hash;
}

char *shims_wrapper_path(void)
{
	const char *self = linker_self_path();

	return xasprintf("%.*slitifut-ld", (int)(lbasename(self) - self), self);
}

static int make_folders(char *path)
{
	for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		mkdir(path, 0777);
		*slash = '/';
	}
	return mkdir(path, 0777) && errno != EEXIST ? -1 : 0;
}

static char *choose_folder(const char *wrapper)
{
	const char *cache = getenv("XDG_CACHE_HOME");
	const char *home = getenv("HOME");
	unsigned hash = hash_of(wrapper);

	if (cache && *cache == '/')
		return xasprintf("%s/litifut/shims-%08x", cache, hash);
	if (home && *home == '/' && !access(home, W_OK))
		return xasprintf("%s/.cache/litifut/shims-%08x", home, hash);
	return xasprintf("/tmp/litifut-%lu/shims-%08x", (unsigned long)getuid(), hash);
}

/* Another process may be doing the same, so the link is made under a name of
 * its own and moved into place. */
static int make_link(const char *folder, const char *name, const char *wrapper)
{
	char *path = concat(folder, "/", name, NULL);
	char *fresh = xasprintf("%s/.%s.%ld", folder, name, (long)getpid());
	char target[4096];
	ssize_t length = readlink(path, target, sizeof(target));
	int result = 0;

	if (length < 0 || (size_t)length != strlen(wrapper) ||
	    memcmp(target, wrapper, (size_t)length))
		result = symlink(wrapper, fresh) || rename(fresh, path) ? -1 : 0;
	free(path);
	free(fresh);
	return result;
}

/* Calls `each` with the names of all files on PATH, folder by folder. */
static void walk_path(void (*each)(void *context, const char *folder, const char *name),
		      void *context)
{
	const char *folders = getenv("PATH");

	while (folders && *folders) {
		size_t length = strcspn(folders, ":");
		char *path = xstrndup(folders, length);
		DIR *directory = opendir(path);
		struct dirent *entry;

		while (directory && (entry = readdir(directory)))
			each(context, path, entry->d_name);
		if (directory)
			closedir(directory);
		free(path);
		folders += length + (folders[length] == ':');
	}
}

struct links {
	const char *folder, *tools;
	const char *wrapper;
	struct text_list prefixes; /* of the linkers for devices, such as "avr-" */
	struct text_list linked;   /* tools that have a link */
};

static void link_linker(void *context, const char *folder, const char *name)
{
	struct links *links = context;
	char *prefix;

	(void)folder;
	if (!linker_is_for_device(name))
		return;
	make_link(links->folder, name, links->wrapper);
	make_link(links->tools, name, links->wrapper);
	prefix = xstrndup(name, (size_t)(strrchr(name, '-') + 1 - name));
	text_list_add(&links->prefixes, prefix);
	free(prefix);
}

/* The first one on PATH counts. */
static void link_tool(void *context, const char *folder, const char *name)
{
	struct links *links = context;

	if (*folder != '/' || linker_is_for_device(name))
		return;
	for (size_t i = 0; i < links->prefixes.count; i++) {
		const char *prefix = links->prefixes.items[i];
		char *target;

		if (strncmp(name, prefix, strlen(prefix)))
			continue;
		if (!text_list_add(&links->linked, name))
			return;
		target = concat(folder, "/", name, NULL);
		make_link(links->tools, name, target);
		free(target);
		return;
	}
}

static void link_toolchains(const char *folder, const char *tools, const char *wrapper)
{
	struct links links = {.folder = folder, .tools = tools, .wrapper = wrapper};

	walk_path(link_linker, &links);
	walk_path(link_tool, &links);
	text_list_release(&links.prefixes);
	text_list_release(&links.linked);
}

/* Makes a folder that has all linkers which have no triplet in their names. */
static int make_plain(const char *folder, const char *wrapper)
{
	int failed = mkdir(folder, 0777) && errno != EEXIST ? -1 : 0;

	for (size_t i = 0; !failed && linkers_plain_name(i); i++)
		failed = make_link(folder, linkers_plain_name(i), wrapper);
	return failed ? failed : make_link(folder, LINKER_COLLECT_NAME, wrapper);
}

/* Some makefiles, such as those of LUFA, put COMPILER_PATH in front of the compiler's name if it is
 * set. So it names a folder that has all tools of the toolchains besides the linkers, and ends with
 * a slash. PATH has the folder above, which has linkers alone: a script that looks for the compiler
 * there has to find the compiler itself. */
static char *tools_folder(const char *folder)
{
	return concat(folder, "/tools/", NULL);
}

/* Removes a folder of an installation that is not there any more, if it holds nothing but links: to
 * its wrapper, or to tools of the same name. */
static void remove_if_dead(const char *path)
{
	char *first = concat(path, "/", linkers_plain_name(0), NULL);
	char target[4096];
	ssize_t length = readlink(first, target, sizeof(target) - 1);
	DIR *directory;
	struct dirent *entry;

	free(first);
	if (length <= 0)
		return;
	target[length] = '\0';
	if (strcmp(lbasename(target), "litifut-ld") || !access(target, F_OK) || errno != ENOENT)
		return;
	directory = opendir(path);
	while (directory && (entry = readdir(directory))) {
		char *link = concat(path, "/", entry->d_name, NULL);
		char other[sizeof(target)];
		ssize_t size = readlink(link, other, sizeof(other) - 1);

		if (size > 0) {
			other[size] = '\0';
			if (!strcmp(other, target) || !strcmp(lbasename(other), entry->d_name))
				unlink(link);
		}
		free(link);
	}
	if (directory)
		closedir(directory);
	rmdir(path);
}

/* Those beside `folder` whose wrapper was removed. */
static void remove_dead(const char *folder)
{
	char *parent = xstrndup(folder, (size_t)(lbasename(folder) - folder));
	DIR *directory = opendir(parent);
	struct dirent *entry;

	while (directory && (entry = readdir(directory))) {
		char *path = concat(parent, entry->d_name, NULL);

		if (!strncmp(entry->d_name, "shims-", 6) && strcmp(path, folder)) {
			char *tools = tools_folder(path);

			remove_if_dead(tools);
			remove_if_dead(path);
			free(tools);
		}
		free(path);
	}
	if (directory)
		closedir(directory);
	free(parent);
}

enum litifut_status shims_make(char **folder, struct litifut_error *error)
{
	char *wrapper = shims_wrapper_path();
	char *path = choose_folder(wrapper);
	struct stat status;
	char *tools;
	int failed;

	if (access(wrapper, X_OK)) {
		litifut_error_set(error, LITIFUT_ERROR_MISSING, wrapper, NULL, LITIFUT_NO_ADDRESS,
				  "%s", strerror(errno));
		free(wrapper);
		free(path);
		return LITIFUT_ERROR_MISSING;
	}
	failed = make_folders(path);
	/* In a folder that others can write to, anything could be our linker. */
	if (!failed && (lstat(path, &status) || !S_ISDIR(status.st_mode) ||
			status.st_uid != geteuid() || (status.st_mode & S_IWOTH))) {
		errno = EPERM;
		failed = -1;
	}
	tools = tools_folder(path);
	if (!failed)
		failed = make_plain(path, wrapper);
	if (!failed)
		failed = make_plain(tools, wrapper);
	if (!failed)
		link_toolchains(path, tools, wrapper);
	free(tools);
	if (failed) {
		litifut_error_set(error, LITIFUT_ERROR_IO, path, NULL, LITIFUT_NO_ADDRESS,
				  "can't be used as the folder of shims: %s", strerror(errno));
		free(wrapper);
		free(path);
		return LITIFUT_ERROR_IO;
	}
	remove_dead(path);
	free(wrapper);
	*folder = path;
	return LITIFUT_OK;
}

static void prepend(const char *variable, const char *folder)
{
	const char *old = getenv(variable);
	size_t length = strlen(folder);
	char *value;

	if (old && !strncmp(old, folder, length) && (old[length] == ':' || !old[length]))
		return;
	value = old && *old ? concat(folder, ":", old, NULL) : xstrdup(folder);
	setenv(variable, value, 1);
	free(value);
}

void shims_set_environment(const char *folder)
{
	char *tools = tools_folder(folder);

	setenv("LITIFUT", "1", 1);
	prepend("COMPILER_PATH", tools);
	prepend("PATH", folder);
	free(tools);
}
