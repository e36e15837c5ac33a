/* A wrapper must never run itself. Files are compared by device and inode, as
 * names tell nothing about links, and because two installations can find each
 * other, each one notes itself in the environment for those that come after. */
#include "ldwrap/linker.h"

#include "cpu/cpu.h"

#include <fnmatch.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <libiberty/libiberty.h>

/* "DEVICE:INODE DEVICE:INODE ...", of the wrappers on the way to this process. */
#define PASSED_VARIABLE "LITIFUT_LD_PASSED"

#define MAXIMUM_LINKS 40

const char *linker_self_path(void)
{
	static char path[PATH_MAX];

	if (!path[0]) {
		ssize_t length = readlink("/proc/self/exe", path, sizeof(path) - 1);

		path[length > 0 ? length : 0] = '\0';
	}
	return path;
}

static void identify(const struct stat *status, char *text, size_t size)
{
	snprintf(text, size, " %llx:%llx ", (unsigned long long)status->st_dev,
		 (unsigned long long)status->st_ino);
}

static bool is_wrapper(const char *path)
{
	const char *passed = getenv(PASSED_VARIABLE);
	struct stat status;
	struct stat self;
	char identity[64];

	if (stat(path, &status))
		return false;
	if (!stat("/proc/self/exe", &self) && self.st_dev == status.st_dev &&
	    self.st_ino == status.st_ino)
		return true;
	identify(&status, identity, sizeof(identity));
	return passed && strstr(passed, identity);
}

static bool is_program(const char *path)
{
	struct stat status;

	return !stat(path, &status) && S_ISREG(status.st_mode) && !access(path, X_OK);
}

/* A linker that is called by its bare name looks for itself on PATH, to find its own files
 * from there: the folders where it would find a wrapper go to the end. */
static void put_wrappers_last(const char *name)
{
	const char *folders = getenv("PATH");
	char *first = xstrdup("");
	char *last = xstrdup("");

	while (folders && *folders) {
		size_t length = strcspn(folders, ":");
		char *folder = xstrndup(folders, length);
		char *path = concat(length ? folder : ".", "/", name, NULL);
		char **list = is_program(path) && is_wrapper(path) ? &last : &first;

		*list = reconcat(*list, *list, folder, ":", NULL);
		free(path);
		free(folder);
		folders += length + (folders[length] == ':');
	}
	if (*first && *last) {
		first = reconcat(first, first, last, NULL);
		first[strlen(first) - 1] = '\0';
		setenv("PATH", first, 1);
	}
	free(first);
	free(last);
}

void linker_guard_environment(const struct linker *linker)
{
	const char *passed = getenv(PASSED_VARIABLE);
	struct stat self;
	char identity[64];

	if (stat("/proc/self/exe", &self))
		return;
	identify(&self, identity, sizeof(identity));
	if (!passed || !strstr(passed, identity)) {
		char *all = concat(passed ? passed : "", identity, NULL);

		setenv(PASSED_VARIABLE, all, 1);
		free(all);
	}
	if (!linker->moved_aside && !strchr(linker->name, '/'))
		put_wrappers_last(linker->name);
}

bool linker_is_for_device(const char *name)
{
	const char *dash = strrchr(name, '-');
	const struct cpu *cpu;

	if (!dash || !linkers_is_plain_name(dash + 1))
		return false;
	for (size_t i = 0; (cpu = cpu_number(i)); i++)
		for (const char *const *triplet = cpu->objects->triplets; *triplet; triplet++) {
			char *glob = concat(*triplet, "-ld*", NULL);
			bool matches = !fnmatch(glob, name, 0);

			free(glob);
			if (matches)
				return true;
		}
	return false;
}

/* The next program called `name` in `folders` (colon-separated) that is no
 * wrapper, unless those count too; owned by the caller, or NULL. */
static char *search(const char *folders, const char *name, bool wrappers_too)
{
	while (folders && *folders) {
		size_t length = strcspn(folders, ":");
		char *path = length ? xasprintf("%.*s%s%s", (int)length, folders,
						folders[length - 1] == '/' ? "" : "/", name)
				    : concat("./", name, NULL);

		if (is_program(path) && (wrappers_too || !is_wrapper(path)))
			return path;
		free(path);
		folders += length + (folders[length] == ':');
	}
	return NULL;
}

/* `invoked` as a path: itself with a slash, else the wrapper found on PATH. */
static char *locate_self(const char *invoked)
{
	const char *folders = getenv("PATH");

	if (strchr(invoked, '/'))
		return xstrdup(invoked);
	while (folders && *folders) {
		size_t length = strcspn(folders, ":");
		char *path = xasprintf("%.*s/%s", (int)length, folders, invoked);

		if (is_program(path) && is_wrapper(path))
			return path;
		free(path);
		folders += length + (folders[length] == ':');
	}
	return xstrdup(invoked);
}

/* Follows links from `start`, turning aside to PATH.litifut-original wherever
 * there is one. The program at the end, or NULL if that is a wrapper. */
static char *follow_to_original(const char *start)
{
	char *path = xstrdup(start);
	bool turned = false;

	for (int links = 0; links < MAXIMUM_LINKS; links++) {
		char *aside = concat(path, LINKER_ORIGINAL_SUFFIX, NULL);
		char target[PATH_MAX];
		struct stat status;
		ssize_t length;
		char *next;

		if (!lstat(aside, &status)) {
			free(path);
			path = aside;
			turned = true;
		} else {
			free(aside);
		}
		length = readlink(path, target, sizeof(target) - 1);
		if (length < 0)
			break;
		target[length] = '\0';
		if (target[0] == '/')
			next = xstrdup(target);
		else
			next = xasprintf("%.*s%s", (int)(lbasename(path) - path), path, target);
		free(path);
		path = next;
	}
	if (turned && is_program(path) && !is_wrapper(path))
		return path;
	free(path);
	return NULL;
}

/* Was the wrapper called by a gcc for another machine? For -fuse-ld=lld this gcc finds no ld.lld
 * on PATH but the wrapper; configure must not conclude from that that the option works. */
static bool is_cross_gcc(const char *const *triplets)
{
	struct utsname host;

	return triplets && getenv("COLLECT_GCC") && !uname(&host) &&
	       strncmp(host.machine, *triplets, 3) != 0 && strncmp(host.machine, "aarch64", 7) != 0;
}

/* The name of the linker that gcc was asked for; it leaves its options in the environment. */
static const char *asked_of_gcc(void)
{
	const char *options = getenv("COLLECT_GCC_OPTIONS");
	const char *asked = NULL;
	const char *name;

	while (options && (options = strstr(options, "'-fuse-ld="))) {
		options += strlen("'-fuse-ld=");
		asked = options;
	}
	for (size_t i = 1; asked && (name = linkers_plain_name(i)); i++) {
		size_t length = strlen(name + 3);

		if (!strncmp(asked, name + 3, length) && asked[length] == '\'')
			return name;
	}
	return linkers_plain_name(0);
}

int linker_find(const char *invoked, const char *const *triplets, struct linker *linker)
{
	const char *base = lbasename(invoked);
	char *self = locate_self(invoked);
	bool by_path = false;

	memset(linker, 0, sizeof(*linker));
	linker->path = follow_to_original(self);
	if (linker->path) {
		linker->moved_aside = true;
		linker->name = xstrdup(invoked);
		free(self);
		return 0;
	}
	free(self);
	/* Called as litifut-ld itself: stand for `ld`. */
	if (!strcmp(base, "litifut-ld"))
		base = "ld";
	else if (!strcmp(base, LINKER_COLLECT_NAME))
		base = asked_of_gcc();
	linker->path = search(getenv("COMPILER_PATH"), base, false);
	if (!linker->path && triplets && !strncmp(base, "ld", 2))
		for (const char *const *one = triplets; !linker->path && *one; one++) {
			char *name = concat(*one, "-", base, NULL);

			linker->path = search(getenv("PATH"), name, false);
			free(name);
		}
	if (!linker->path && !is_cross_gcc(triplets)) {
		linker->path = search(getenv("PATH"), base, false);
		by_path = base == invoked;
	}
	if (!linker->path)
		return -1;
	linker->name = xstrdup(by_path ? invoked : linker->path);
	return 0;
}

char *linker_find_sibling(const struct linker *linker, const char *tool)
{
	/* By its name, which the path of one that was moved aside is not. */
	const char *place = strchr(linker->name, '/') ? linker->name : linker->path;
	const char *base = lbasename(linker->name);
	size_t length = strlen(base);
	char *name;
	char *path;

	/* The prefix of "TRIPLET-ld", "TRIPLET-ld.bfd" and "ld.lld" is what comes
	 * before the last "ld" that stands at the start or after a dash. */
	while (length && !(!strncmp(base + length, "ld", 2) && base[length - 1] == '-'))
		length--;
	name = xasprintf("%.*s%s", (int)length, base, tool);
	path = xasprintf("%.*s%s", (int)(lbasename(place) - place), place, name);
	if (!is_program(path)) {
		free(path);
		path = search(getenv("COMPILER_PATH"), name, false);
		if (!path)
			path = search(getenv("PATH"), name, false);
	}
	free(name);
	return path;
}

char *linker_find_program(const char *name)
{
	return search(getenv("PATH"), name, false);
}

char *linker_find_any(const char *name)
{
	return search(getenv("PATH"), name, true);
}
