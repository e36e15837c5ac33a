/* The files of a trace: DIR/trace/NAME.PID.trace and DIR/maps/NAME.PID.maps,
 * and their copies. */

#include <stddef.h>

#include "tracer/recorder.h"
#include "tracer/system.h"

/* Numbers tried when a file of that name exists already: a program that has
 * executed another of the same name, or a process id used again. */
#define LITIFUT_NAME_TRIES 100

/* A USB stick takes a fraction of a second for that many. */
#define LITIFUT_SYNC_BYTES (1u << 20)

/* The descriptor is kept out of the way of programs that expect theirs to
 * be the lowest numbers. */
static long litifut_descriptor_move(long descriptor)
{
	static const uint16_t from[] = {900, 200, 100};

	for (unsigned i = 0; i < sizeof(from) / sizeof(from[0]); i++) {
		long high = LITIFUT_CALL3(fcntl64, descriptor, F_DUPFD_CLOEXEC, from[i]);

		if (!litifut_failed(high)) {
			litifut_close(descriptor);
			return high;
		}
	}
	return descriptor;
}

static bool litifut_identity(long descriptor, uint32_t identity[3])
{
	uint32_t stat[40];

	if (litifut_failed(LITIFUT_CALL2(fstat64, descriptor, stat)))
		return false;
	litifut_port_file_identity(stat, identity);
	return true;
}

bool litifut_is_trace(long descriptor)
{
	uint32_t identity[3];

	if (!litifut_identity(descriptor, identity))
		return false;
	for (int i = 0; i < 3; i++)
		if (identity[i] != litifut_recorder.identity[i])
			return false;
	return true;
}

long litifut_trace_descriptor(void)
{
	struct litifut_recorder *r = &litifut_recorder;
	long descriptor = r->descriptor;

	if (descriptor >= 0 && litifut_is_trace(descriptor))
		return descriptor;
	descriptor = litifut_open(r->trace_path, O_RDWR, 0);
	if (litifut_failed(descriptor))
		return descriptor;
	if (!litifut_is_trace(descriptor)) {
		litifut_close(descriptor);
		return -ENOENT;
	}
	descriptor = litifut_descriptor_move(descriptor);
	r->descriptor = descriptor;
	return descriptor;
}

/* LITIFUT_DIR as an absolute path, because the program may change directory. */
static bool litifut_directory_path(char *path, uint32_t size)
{
	const char *directory = litifut_recorder.settings.directory;

	path[0] = 0;
	if (directory[0] != '/') {
		if (litifut_failed(LITIFUT_CALL2(getcwd, path, size)))
			return false;
		while (directory[0] == '.' && directory[1] == '/')
			directory += 2;
		if (!litifut_append(path, size, "/"))
			return false;
	}
	return litifut_append(path, size, directory);
}

/* Makes the directory and its parents where they are missing. */
static void litifut_directory_make(char *path)
{
	for (char *at = path + 1; *at; at++) {
		if (*at != '/')
			continue;
		*at = 0;
		LITIFUT_CALL2(mkdir, path, 0755);
		*at = '/';
	}
	LITIFUT_CALL2(mkdir, path, 0755);
}

/* BASE/KIND/NAME.PID[.TRY].KIND */
static bool litifut_file_path(char *path, uint32_t size, const char *base, const char *kind,
			      uint32_t try)
{
	struct litifut_recorder *r = &litifut_recorder;

	path[0] = 0;
	return litifut_append(path, size, base) && litifut_append(path, size, "/") &&
	       litifut_append(path, size, kind) && litifut_append(path, size, "/") &&
	       litifut_append(path, size, r->program) && litifut_append(path, size, ".") &&
	       litifut_append_number(path, size, r->process) &&
	       (try < 2 ||
		(litifut_append(path, size, ".") && litifut_append_number(path, size, try))) &&
	       litifut_append(path, size, ".") && litifut_append(path, size, kind);
}

static bool litifut_directories_make(const char *base)
{
	char path[LITIFUT_PATH_BYTES + 16];

	path[0] = 0;
	if (!litifut_append(path, sizeof(path), base) ||
	    !litifut_append(path, sizeof(path), "/trace"))
		return false;
	litifut_directory_make(path);
	path[litifut_length(base)] = 0;
	if (!litifut_append(path, sizeof(path), "/maps"))
		return false;
	LITIFUT_CALL2(mkdir, path, 0755);
	return true;
}

/* The header takes 16 KiB, a multiple of every page size of ours and of the
 * distance (SHMLBA) at which CPUs with aliasing caches want shared mappings of
 * one file: a chunk's address is a multiple of its size, so its place in the
 * file has to be one of 16 KiB. */
bool litifut_trace_create(void)
{
	struct litifut_recorder *r = &litifut_recorder;
	char base[LITIFUT_PATH_BYTES];
	long descriptor = -EEXIST;
	long header;

	if (!litifut_directory_path(base, sizeof(base)) || !litifut_directories_make(base))
		return false;
	for (uint32_t try = 1; descriptor == -EEXIST && try < LITIFUT_NAME_TRIES; try++) {
		if (!litifut_file_path(r->trace_path, sizeof(r->trace_path), base, "trace", try) ||
		    !litifut_file_path(r->maps_path, sizeof(r->maps_path), base, "maps", try))
			return false;
		descriptor = litifut_open(r->trace_path, O_RDWR | O_CREAT | O_EXCL, 0600);
	}
	if (litifut_failed(descriptor))
		return false;
	descriptor = litifut_descriptor_move(descriptor);
	r->descriptor = descriptor;
	if (!litifut_identity(descriptor, r->identity) ||
	    !litifut_file_grow(descriptor, 0, LITIFUT_HEADER_BYTES))
		return false;
	header = litifut_map(0, LITIFUT_HEADER_BYTES, PROT_READ | PROT_WRITE, descriptor, 0);
	if (litifut_failed(header))
		return false;
	r->header = (struct litifut_trace_header *)header;
	return true;
}

/* Copies what can be read from one descriptor to the other. With `sync`, what
 * has been copied is safe every now and then, should the stick be pulled. */
static bool litifut_copy_all(long from, long to, bool sync)
{
	char buffer[1024];
	uint64_t copied = 0;
	uint64_t next_sync = 1; /* the first words tell what file it is */

	for (;;) {
		long got = LITIFUT_CALL3(read, from, buffer, sizeof(buffer));

		if (got == -EINTR)
			continue;
		if (got <= 0)
			return got == 0;
		copied += (uint64_t)got;
		if (!litifut_within_limits(copied))
			return false;
		for (long done = 0; done < got;) {
			long put = LITIFUT_CALL3(write, to, buffer + done, got - done);

			if (put == -EINTR)
				continue;
			if (put <= 0)
				return false;
			done += put;
		}
		if (sync && copied >= next_sync) {
			LITIFUT_CALL1(fsync, to);
			next_sync = copied + LITIFUT_SYNC_BYTES;
		}
	}
}

/* Everything on the file system that the folder is on: fsync() of a file alone
 * leaves its name, and new folders above it, where a loss of power takes them. */
static void litifut_sync_around(const char *folder)
{
	long descriptor = litifut_open(folder, O_RDONLY, 0);
	long result = descriptor;

	if (!litifut_failed(descriptor)) {
		result = LITIFUT_CALL1(syncfs, descriptor);
		litifut_close(descriptor);
	}
	if (litifut_failed(result)) /* Linux before 2.6.39 */
		LITIFUT_CALL0(sync);
}

/* Copies a file through a temporary name, so that `to` is whole or absent. */
static bool litifut_copy_file(const char *from, const char *to, bool sync)
{
	char temporary[LITIFUT_PATH_BYTES + 144];
	long source = litifut_open(from, O_RDONLY, 0);
	long target;
	bool good;

	if (litifut_failed(source))
		return false;
	temporary[0] = 0;
	if (!litifut_append(temporary, sizeof(temporary), to) ||
	    !litifut_append(temporary, sizeof(temporary), ".tmp")) {
		litifut_close(source);
		return false;
	}
	LITIFUT_CALL1(unlink, temporary);
	target = litifut_open(temporary, O_WRONLY | O_CREAT | O_EXCL, 0600);
	if (litifut_failed(target)) {
		litifut_close(source);
		return false;
	}
	good = litifut_copy_all(source, target, sync);
	if (good && sync)
		good = !litifut_failed(LITIFUT_CALL1(fsync, target));
	litifut_close(target);
	litifut_close(source);
	if (good)
		good = !litifut_failed(LITIFUT_CALL2(rename, temporary, to));
	if (!good)
		LITIFUT_CALL1(unlink, temporary);
	return good;
}

void litifut_maps_write(void)
{
	litifut_copy_file("/proc/self/maps", litifut_recorder.maps_path, false);
}

/* The part of `path` from the second last slash on: "/trace/NAME.PID.trace". */
static const char *litifut_path_tail(const char *path)
{
	const char *last = path;
	const char *tail = path;

	for (; *path; path++) {
		if (*path == '/') {
			tail = last;
			last = path;
		}
	}
	return tail;
}

void litifut_files_carry(void)
{
	struct litifut_recorder *r = &litifut_recorder;
	const char *from[] = {r->trace_path, r->maps_path};

	if (!r->settings.copy_to[0] || !litifut_directories_make(r->settings.copy_to))
		return;
	litifut_sync_around(r->settings.copy_to);
	for (int i = 0; i < 2; i++) {
		char to[LITIFUT_PATH_BYTES + 128];

		to[0] = 0;
		if (litifut_append(to, sizeof(to), r->settings.copy_to) &&
		    litifut_append(to, sizeof(to), litifut_path_tail(from[i])))
			litifut_copy_file(from[i], to, true);
	}
	litifut_sync_around(r->settings.copy_to);
}
