#include "ldwrap/install.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <libiberty/libiberty.h>

#include "ldwrap/linker.h"
#include "ldwrap/linkers.h"
#include "ldwrap/process.h"

#define DIVERT_PROGRAM "/usr/bin/dpkg-divert"
#define QUERY_PROGRAM "/usr/bin/dpkg-query"

/* One after another; more are taken for a circle. */
#define MAXIMUM_LINKS 40

static void add_path(struct install_result *list, char *path)
{
	list->paths = xrealloc(list->paths, (list->count + 1) * sizeof(char *));
	list->paths[list->count++] = path;
}

void install_result_release(struct install_result *result)
{
	for (size_t i = 0; i < result->count; i++)
		free(result->paths[i]);
	free(result->paths);
	memset(result, 0, sizeof(*result));
}

static bool exists(const char *path)
{
	struct stat status;

	return !lstat(path, &status);
}

/* A link whose target is called litifut-ld. */
static bool is_our_link(const char *path)
{
	char target[PATH_MAX];
	ssize_t length = readlink(path, target, sizeof(target) - 1);

	target[length < 0 ? 0 : length] = '\0';
	return !strcmp(lbasename(target), "litifut-ld");
}

/* FOLDER/PREFIX{ld,ld.bfd,...}, those that are there. */
static void add_linkers(struct install_result *list, const char *folder, const char *prefix)
{
	const char *name;

	for (size_t i = 0; (name = linkers_plain_name(i)); i++) {
		char *path = concat(folder, "/", prefix, name, NULL);

		if (exists(path))
			add_path(list, path);
		else
			free(path);
	}
}

static bool ends_in_linker(const char *name)
{
	const char *dash = strrchr(name, '-');

	return dash && dash > name && linkers_is_plain_name(dash + 1);
}

static bool is_linker_name(const char *name)
{
	return linkers_is_plain_name(name) || ends_in_linker(name);
}

static int compare_paths(const void *left, const void *right)
{
	return strcmp(*(char *const *)left, *(char *const *)right);
}

/* Keeps those for the CPUs that can be traced, if there are any: a folder such as /usr/bin also has
 * linkers for the machine that builds. A vendor's toolchain may have a name of its own. */
static void keep_for_device(struct install_result *names)
{
	size_t kept = 0;
	bool any = false;

	for (size_t i = 0; i < names->count; i++)
		any |= linker_is_for_device(lbasename(names->paths[i]));
	for (size_t i = 0; any && i < names->count; i++) {
		if (linker_is_for_device(lbasename(names->paths[i])))
			names->paths[kept++] = names->paths[i];
		else
			free(names->paths[i]);
	}
	if (any)
		names->count = kept;
	if (names->count)
		qsort(names->paths, names->count, sizeof(*names->paths), compare_paths);
}

/* Every TRIPLET-ld* in a folder, or the bare names that a TRIPLET/bin has. */
static void add_folder(struct install_result *list, const char *folder)
{
	struct install_result names = {0};
	DIR *directory = opendir(folder);
	struct dirent *entry;

	while (directory && (entry = readdir(directory)))
		if (ends_in_linker(entry->d_name))
			add_path(&names, concat(folder, "/", entry->d_name, NULL));
	if (directory)
		closedir(directory);
	keep_for_device(&names);
	/* The bare names of a folder such as /usr/bin are for the machine that
	 * builds; those of TRIPLET/bin are meant. */
	if (!names.count)
		add_linkers(list, folder, "");
	for (size_t i = 0; i < names.count; i++)
		add_path(list, names.paths[i]);
	free(names.paths);
}

/* As dpkg needs names. The last part may be a link, and stays. */
static char *absolute_path(const char *path)
{
	char *folder = xstrndup(path, (size_t)(lbasename(path) - path));
	char *real = realpath(*folder ? folder : ".", NULL);
	char *absolute = real ? concat(real, "/", lbasename(path), NULL) : xstrdup(path);

	free(folder);
	free(real);
	return absolute;
}

static bool is_listed(const struct install_result *list, const char *path)
{
	char *name = absolute_path(path);
	bool found = false;

	for (size_t i = 0; !found && i < list->count; i++) {
		char *other = absolute_path(list->paths[i]);

		found = !strcmp(name, other);
		free(other);
	}
	free(name);
	return found;
}

/* Where the links from `path` end: at a program, or at a link that install-ld made. NULL: nowhere.
 */
static char *end_of_links(const char *path)
{
	char *at = concat(path, LINKER_ORIGINAL_SUFFIX, NULL);

	if (!is_our_link(path) || !exists(at)) {
		free(at);
		at = xstrdup(path);
	}
	for (int links = 0; links < MAXIMUM_LINKS; links++) {
		char target[PATH_MAX];
		ssize_t length = is_our_link(at) ? -1 : readlink(at, target, sizeof(target) - 1);
		char *next;

		if (length < 0) {
			if (exists(at))
				return at;
			break;
		}
		target[length] = '\0';
		next = target[0] == '/'
			       ? xstrdup(target)
			       : xasprintf("%.*s%s", (int)(lbasename(at) - at), at, target);
		free(at);
		at = next;
	}
	free(at);
	return NULL;
}

/* Buildroot's host/bin has links into the folder of a toolchain that it did not build; the
 * compiler in there does not find them. */
static void add_linked(struct install_result *list)
{
	size_t count = list->count;

	for (size_t i = 0; i < count; i++) {
		char *end = end_of_links(list->paths[i]);

		if (end && is_linker_name(lbasename(end)) && !is_listed(list, end))
			add_path(list, end);
		else
			free(end);
	}
}

/* The compiler runs TRIPLET/bin/ld of its toolchain, in Debian's for firmware lib/TRIPLET/bin/ld: a
 * link to bin/TRIPLET-ld or, as binutils itself makes it, a second name of the same file. */
static void add_second_names(struct install_result *list)
{
	static const char *const folders[] = {"", "lib/"};
	size_t count = list->count;

	for (size_t i = 0; i < 2 * count; i++) {
		const char *path = list->paths[i / 2];
		const char *base = lbasename(path);
		const char *suffix = base > path ? strrchr(base, '-') : NULL;
		struct stat status;

		if (!suffix)
			continue;
		char *second = xasprintf("%.*s../%s%.*s/bin/%s", (int)(base - path), path,
					 folders[i % 2], (int)(suffix - base), base, suffix + 1);

		if (!lstat(second, &status) && (S_ISREG(status.st_mode) || is_our_link(second)) &&
		    !is_listed(list, second))
			add_path(list, second);
		else
			free(second);
	}
}

/* A path; a word without a slash is one if there is no TRIPLET-ld of that name. */
static bool is_path(const char *toolchain)
{
	char *name = concat(toolchain, "-ld", NULL);
	char *linker = strchr(toolchain, '/') ? NULL : linker_find_any(name);
	const bool path = strchr(toolchain, '/') || (!linker && exists(toolchain));

	free(linker);
	free(name);
	return path;
}

/* A link on PATH that install-ld made and whose litifut-ld was removed; to be freed. NULL: none. */
static char *find_dead_link(const char *name)
{
	const char *folders = getenv("PATH");

	while (folders && *folders) {
		size_t length = strcspn(folders, ":");
		char *path = xasprintf("%.*s/%s", (int)length, folders, name);

		if (is_our_link(path))
			return path;
		free(path);
		folders += length + (folders[length] == ':');
	}
	return NULL;
}

/* Fills `list` with the linkers that `toolchain` means. */
static enum litifut_status collect(const char *toolchain, struct install_result *list,
				   struct litifut_error *error)
{
	bool one = false;
	struct stat status;

	if (is_path(toolchain) && !stat(toolchain, &status)) {
		if (S_ISDIR(status.st_mode)) {
			char *bin = concat(toolchain, "/bin", NULL);

			add_folder(list, toolchain);
			if (!list->count)
				add_folder(list, bin);
			free(bin);
		} else if (is_our_link(toolchain) ||
			   (is_linker_name(lbasename(toolchain)) && !access(toolchain, X_OK))) {
			add_path(list, xstrdup(toolchain));
			one = true;
		} else {
			return litifut_error_set(
				error, LITIFUT_ERROR_UNSUPPORTED, toolchain, NULL,
				LITIFUT_NO_ADDRESS,
				"is not a linker that can be run: its name is none of [TRIPLET-]%s",
				linkers_plain_names());
		}
	} else if (!strchr(toolchain, '/')) {
		/* as CROSS_COMPILE has it, with a dash at the end, too */
		bool dash = *toolchain && toolchain[strlen(toolchain) - 1] == '-';
		char *prefix = concat(toolchain, dash ? "" : "-", NULL);
		char *name = concat(prefix, "ld", NULL);
		char *path = linker_find_any(name);

		if (!path)
			path = find_dead_link(name);
		if (path) {
			char *folder = xstrndup(path, (size_t)(lbasename(path) - path) - 1);

			add_linkers(list, folder, prefix);
			free(folder);
		}
		free(path);
		free(name);
		free(prefix);
	}
	if (list->count) {
		if (!one) {
			add_linked(list);
			add_second_names(list);
		}
		return LITIFUT_OK;
	}
	return litifut_error_set(error, LITIFUT_ERROR_MISSING, toolchain, NULL, LITIFUT_NO_ADDRESS,
				 "no linker there, and no TRIPLET-ld of that name on PATH");
}

static int run_quietly(char *const words[])
{
	return access(words[0], X_OK) ? -1 : process_run(words[0], words, "/dev/null", "/dev/null");
}

static bool is_packaged(const char *path)
{
	char *words[] = {(char *)QUERY_PROGRAM, (char *)"-S", (char *)path, NULL};

	return !run_quietly(words);
}

/* Has install-ld diverted it? dpkg-divert prints where a package's file goes. */
static bool is_diverted(const char *path, const char *original)
{
	char *from = absolute_path(path);
	char *to = absolute_path(original);
	char *answer = make_temp_file(NULL);
	char *words[] = {(char *)DIVERT_PROGRAM, (char *)"--truename", from, NULL};
	bool diverted = false;
	char line[PATH_MAX];
	FILE *file;

	if (!access(words[0], X_OK) && !process_run(words[0], words, answer, "/dev/null") &&
	    (file = fopen(answer, "r"))) {
		if (fgets(line, sizeof(line), file)) {
			line[strcspn(line, "\n")] = '\0';
			diverted = !strcmp(line, to);
		}
		fclose(file);
	}
	unlink(answer);
	free(answer);
	free(from);
	free(to);
	return diverted;
}

/* Moves `path` to `original`, so that an upgrade of the package does the same. */
static int divert(const char *path, const char *original)
{
	char *words[] = {
		(char *)DIVERT_PROGRAM, (char *)"--local", (char *)"--rename", (char *)"--divert",
		(char *)original,       (char *)"--add",   (char *)path,       NULL};

	return is_packaged(path) ? run_quietly(words) : -1;
}

static int move_aside(const char *path, const char *original)
{
	char *from = absolute_path(path);
	char *to = absolute_path(original);
	bool diverted = !divert(from, to);

	free(from);
	free(to);
	if (diverted)
		return exists(original) ? 0 : -1;
	return rename(path, original);
}

static int end_diversion(const char *path)
{
	char *name = absolute_path(path);
	char *words[] = {(char *)DIVERT_PROGRAM,
			 (char *)"--local",
			 (char *)"--rename",
			 (char *)"--remove",
			 name,
			 NULL};
	int result = run_quietly(words);

	free(name);
	return result;
}

static int move_back(const char *path, const char *original)
{
	return !end_diversion(path) && exists(path) ? 0 : rename(original, path);
}

static enum litifut_status can_be_replaced(const char *path, struct litifut_error *error)
{
	char *original = concat(path, LINKER_ORIGINAL_SUFFIX, NULL);
	char *folder = xasprintf("%.*s.", (int)(lbasename(path) - path), path);
	enum litifut_status status = LITIFUT_OK;

	if (exists(original))
		status =
			litifut_error_set(error, LITIFUT_ERROR_FORMAT, original, NULL,
					  LITIFUT_NO_ADDRESS, "is in the way; nothing was changed");
	else if (access(folder, W_OK))
		status = litifut_error_set(error, LITIFUT_ERROR_IO, path, NULL, LITIFUT_NO_ADDRESS,
					   "can't be moved; nothing was changed: %s",
					   strerror(errno));
	free(original);
	free(folder);
	return status;
}

enum litifut_status install_linkers(const char *toolchain, const char *wrapper,
				    struct install_result *result, struct litifut_error *error)
{
	struct install_result list = {0};
	enum litifut_status status = collect(toolchain, &list, error);

	memset(result, 0, sizeof(*result));
	/* All or nothing: look before the first is touched. */
	for (size_t i = 0; !status && i < list.count; i++)
		if (!is_our_link(list.paths[i]))
			status = can_be_replaced(list.paths[i], error);
	for (size_t i = 0; !status && i < list.count; i++) {
		const char *path = list.paths[i];
		char *original = concat(path, LINKER_ORIGINAL_SUFFIX, NULL);

		if (is_our_link(path)) {
			free(original);
			/* of an installation that was removed */
			if (access(path, F_OK) && !unlink(path) && !symlink(wrapper, path))
				add_path(result, xstrdup(path));
			continue;
		}
		if (move_aside(path, original)) {
			status = litifut_error_set(error, LITIFUT_ERROR_IO, path, NULL,
						   LITIFUT_NO_ADDRESS, "can't be moved: %s",
						   strerror(errno));
		} else if (symlink(wrapper, path)) {
			int reason = errno;

			move_back(path, original);
			status = litifut_error_set(error, LITIFUT_ERROR_IO, path, NULL,
						   LITIFUT_NO_ADDRESS, "can't be made a link: %s",
						   strerror(reason));
		} else {
			add_path(result, xstrdup(path));
		}
		free(original);
	}
	install_result_release(&list);
	return status;
}

static enum litifut_status put_back(const char *path, struct install_result *result,
				    struct litifut_error *error)
{
	char *original = concat(path, LINKER_ORIGINAL_SUFFIX, NULL);
	enum litifut_status status = LITIFUT_OK;
	bool there = exists(original);

	if (!there && !is_diverted(path, original))
		status = litifut_error_set(
			error, LITIFUT_ERROR_MISSING, path, NULL, LITIFUT_NO_ADDRESS,
			"stays a link to litifut-ld: %s is not there", lbasename(original));
	/* a diverted one that is not there went with its package */
	else if (!unlink(path) && !(there ? move_back(path, original) : end_diversion(path)))
		add_path(result, xstrdup(path));
	else
		status = litifut_error_set(error, LITIFUT_ERROR_IO, path, NULL, LITIFUT_NO_ADDRESS,
					   "can't be put back: %s", strerror(errno));
	free(original);
	return status;
}

enum litifut_status uninstall_linkers(const char *toolchain, struct install_result *result,
				      struct litifut_error *error)
{
	struct install_result list = {0};
	enum litifut_status status = collect(toolchain, &list, error);

	memset(result, 0, sizeof(*result));
	if (status)
		return status;
	/* One that can't be put back keeps none of the others from it. */
	for (size_t i = 0; i < list.count; i++) {
		struct litifut_error one;

		if (is_our_link(list.paths[i]) && put_back(list.paths[i], result, &one) &&
		    !status) {
			status = one.status;
			*error = one;
		}
	}
	install_result_release(&list);
	return status;
}
