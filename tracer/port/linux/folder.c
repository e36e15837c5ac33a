/* Folders that the recorder writes to, opened step by step where another user might
 * have laid out the way. What is held is a descriptor of the folder itself, so nothing
 * that happens to its path afterwards leads anywhere else. */

#include "tracer/port/linux/folder.h"

#include <asm/stat.h>
#include <stddef.h>

#include "tracer/port/linux/system.h"
#include "tracer/recorder/state.h"
#include "tracer/recorder/text.h"

/* Of linux/stat.h, which can't be had beside asm/stat.h in all versions. */
#define LITIFUT_MODE_KIND 0170000u
#define LITIFUT_MODE_LINK 0120000u
#define LITIFUT_MODE_STICKY 01000u
#define LITIFUT_MODE_GROUP_WRITES 020u
#define LITIFUT_MODE_OTHERS_WRITE 02u

/* Of linux/magic.h; exfat is not in all versions. */
#define LITIFUT_FILE_SYSTEM_FAT 0x4d44u
#define LITIFUT_FILE_SYSTEM_EXFAT 0x2011bab0u

#define LITIFUT_WALK_BYTES (LITIFUT_PATH_BYTES * 3 / 2)
#define LITIFUT_WALK_LINKS 8

struct litifut_walk {
	long folder;   /* where it has come to; AT_FDCWD: to the root */
	uint32_t user; /* the effective one */
	uint32_t links;
	bool careful;
	bool sticky;  /* others may write to `folder`, but only its owner replaces a name */
	bool foreign; /* `folder` belongs to neither root nor the effective user */
	/* The path from `folder` on: what stands in `path` from here on. That of the root has a '/'
	 * before each name. */
	char *rest;
	char path[LITIFUT_WALK_BYTES];
};

static long litifut_open_at(long folder, const char *name, uint32_t flags)
{
	return LITIFUT_CALL4(openat, folder, name, flags | O_DIRECTORY | O_CLOEXEC, 0);
}

static bool litifut_is_ours(const struct litifut_walk *walk, uint32_t user)
{
	return !user || user == walk->user;
}

/* A file system that has neither links nor owners: a stick, where everything belongs to
 * whoever is said to own it when it is mounted. */
static bool litifut_has_no_links(long folder)
{
	long descriptor = litifut_open_at(folder, ".", O_RDONLY);
	uint32_t buffer[32];
	uint32_t size = 88; /* of struct statfs64; ARM takes it as well */
	long result = descriptor;

	if (!litifut_failed(descriptor)) {
		result = LITIFUT_CALL3(fstatfs64, descriptor, size, buffer);
		litifut_close(descriptor);
	}
	return !litifut_failed(result) &&
	       (buffer[0] == LITIFUT_FILE_SYSTEM_FAT || buffer[0] == LITIFUT_FILE_SYSTEM_EXFAT);
}

/* May names in this folder be relied on? Those of the root may. */
static long litifut_walk_judge(struct litifut_walk *walk)
{
	struct stat64 stat;
	uint32_t others;
	long result;

	walk->foreign = false;
	walk->sticky = false;
	if (!walk->careful || walk->folder == AT_FDCWD)
		return 0;
	result = LITIFUT_CALL4(fstatat64, walk->folder, ".", &stat, 0);
	if (litifut_failed(result))
		return result;
	others = stat.st_mode & LITIFUT_MODE_OTHERS_WRITE;
	if (stat.st_gid)
		others |= stat.st_mode & LITIFUT_MODE_GROUP_WRITES;
	walk->foreign = !litifut_is_ours(walk, stat.st_uid);
	walk->sticky = others && stat.st_mode & LITIFUT_MODE_STICKY;
	if (walk->foreign && litifut_recorder.secure)
		return -EPERM;
	return others && !walk->sticky && !litifut_has_no_links(walk->folder) ? -EPERM : 0;
}

/* Another folder for the one that it has come to. */
static long litifut_walk_to(struct litifut_walk *walk, long folder)
{
	if (walk->folder >= 0)
		litifut_close(walk->folder);
	walk->folder = folder;
	return litifut_failed(folder) && folder != AT_FDCWD ? folder : litifut_walk_judge(walk);
}

/* Puts what the link `name` holds before the rest. */
static long litifut_walk_link(struct litifut_walk *walk, const char *name)
{
	char held[LITIFUT_WALK_BYTES];
	struct litifut_text text;
	long length = LITIFUT_CALL4(readlinkat, walk->folder, name, held + 1, sizeof(held) - 2);

	if (litifut_failed(length))
		return length;
	if (++walk->links > LITIFUT_WALK_LINKS)
		return -ELOOP;
	held[0] = '/';
	litifut_text_start(&text, held + 1 + length,
			   (uint32_t)(sizeof(held) - 1 - (uint32_t)length), "/");
	litifut_text_add(&text, walk->rest);
	if (text.cut)
		return -ENAMETOOLONG;
	litifut_copy(walk->path, held, sizeof(held));
	walk->rest = walk->path;
	return held[1] == '/' ? litifut_walk_to(walk, AT_FDCWD) : 0;
}

/* One component. */
static long litifut_walk_step(struct litifut_walk *walk, const char *name, unsigned options)
{
	struct stat64 stat;
	long result = LITIFUT_CALL4(fstatat64, walk->folder, name, &stat, AT_SYMLINK_NOFOLLOW);

	if (result == -ENOENT && options & LITIFUT_FOLDER_MAKE) {
		result = LITIFUT_CALL3(mkdirat, walk->folder, name, 0755);
		if (!litifut_failed(result) && options & LITIFUT_FOLDER_SYNC)
			litifut_folder_sync(walk->folder);
		if (!litifut_failed(result) || result == -EEXIST)
			result = LITIFUT_CALL4(fstatat64, walk->folder, name, &stat,
					       AT_SYMLINK_NOFOLLOW);
	}
	if (litifut_failed(result))
		return result;
	if (!walk->careful)
		return litifut_walk_to(walk, litifut_open_at(walk->folder, name, O_PATH));
	if (walk->sticky && !litifut_is_ours(walk, stat.st_uid))
		return -EPERM;
	if ((stat.st_mode & LITIFUT_MODE_KIND) != LITIFUT_MODE_LINK)
		return litifut_walk_to(walk,
				       litifut_open_at(walk->folder, name, O_PATH | O_NOFOLLOW));
	/* In a folder of another user it may change before it is read. */
	if (walk->foreign || !litifut_is_ours(walk, stat.st_uid))
		return -ELOOP;
	return litifut_walk_link(walk, name);
}

/* Takes the next component from the path, and puts a NUL behind it there; NULL at its end. One of
 * the root begins with the '/' before it, because qemu-user has another idea of what "/" by itself
 * is. */
static const char *litifut_walk_name(struct litifut_walk *walk)
{
	char *at = walk->rest;
	const char *name;

	while (*at == '/')
		at++;
	if (!*at)
		return NULL;
	name = walk->folder == AT_FDCWD ? at - 1 : at;
	while (*at && *at != '/')
		at++;
	if (*at)
		*at++ = 0;
	walk->rest = at;
	return name;
}

/* From where it is to the end of its path. */
static long litifut_walk_on(struct litifut_walk *walk, long result, unsigned options)
{
	while (!litifut_failed(result)) {
		const char *name = litifut_walk_name(walk);

		if (!name)
			return walk->folder;
		result = litifut_walk_step(walk, name, options);
	}
	if (walk->folder >= 0)
		litifut_close(walk->folder);
	return result;
}

/* Walks BASE/KIND from the folder `start`; AT_FDCWD stands for the root. */
static long litifut_walk_from(long start, const char *base, const char *kind, unsigned options)
{
	struct litifut_walk walk;
	struct litifut_text text;
	long folder;

	walk.folder = -1;
	walk.links = 0;
	walk.user = (uint32_t)litifut_system_call3(LITIFUT_PORT_GETEUID, 0, 0, 0);
	walk.careful = litifut_recorder.secure || !walk.user;
	walk.rest = walk.path;
	litifut_text_start(&text, walk.path, sizeof(walk.path), base);
	litifut_text_add(&text, "/");
	litifut_text_add(&text, kind);
	if (text.cut)
		return -ENAMETOOLONG;
	if (!walk.careful && *base) {
		folder = litifut_open_at(start, walk.rest, O_PATH);
		if (folder != -ENOENT || !(options & LITIFUT_FOLDER_MAKE))
			return folder;
	}
	return litifut_walk_on(&walk, litifut_walk_to(&walk, start), options);
}

long litifut_folder_open(const char *base, const char *kind, unsigned options)
{
	return litifut_walk_from(AT_FDCWD, base, kind, options);
}

long litifut_folder_beside(long folder, const char *kind, unsigned options)
{
	if (!litifut_failed(folder))
		folder = litifut_open_at(folder, "..", O_PATH);
	return litifut_failed(folder) ? folder : litifut_walk_from(folder, "", kind, options);
}

void litifut_folder_sync(long folder)
{
	long descriptor = litifut_open_at(folder, folder == AT_FDCWD ? "/" : ".", O_RDONLY);

	if (litifut_failed(descriptor))
		return;
	LITIFUT_CALL1(fsync, descriptor);
	litifut_close(descriptor);
}
