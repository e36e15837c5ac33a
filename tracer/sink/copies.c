/* Copies of the files of a trace, and the maps beside it, which are one. */

#include "tracer/sink/copies.h"

#include <stdbool.h>
#include <stddef.h>

#include "tracer/port/linux/files.h"
#include "tracer/port/linux/room.h"
#include "tracer/port/linux/system.h"
#include "tracer/recorder/shared.h"
#include "tracer/recorder/state.h"
#include "tracer/recorder/text.h"
#include "tracer/recorder/verbose.h"

/* A USB stick takes a fraction of a second for that many. */
#define LITIFUT_SYNC_BYTES (1u << 20)

/* Copies what can be read from one descriptor to the other; 0 when that is all.
 * With `sync`, what has been copied is safe every now and then, should the stick
 * be pulled. */
static long litifut_copy_all(long from, long to, bool sync)
{
	char buffer[1024];
	uint64_t copied = 0;
	uint64_t next_sync = 1; /* the first words tell what file it is */

	for (;;) {
		long got = LITIFUT_CALL3(read, from, buffer, sizeof(buffer));

		if (got == -EINTR)
			continue;
		if (got <= 0)
			return got;
		copied += (uint64_t)got;
		if (!litifut_within_limits(copied))
			return -EFBIG;
		for (long done = 0; done < got;) {
			long put = LITIFUT_CALL3(write, to, buffer + done, got - done);

			if (put == -EINTR)
				continue;
			if (put <= 0)
				return put ? put : -ENOSPC;
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

/* False when a copy that has more of the file has come first. */
static bool litifut_is_newest(uint32_t *last, uint32_t number)
{
	uint32_t old;

	do {
		old = *(volatile uint32_t *)last;
		if (old > number)
			return false;
	} while (!litifut_exchange(last, old, number));
	return true;
}

/* Copies a file through a temporary name, which no other copy of this process has,
 * so that `to` is whole or absent. Gives 0, or what the kernel had against it;
 * -ESTALE: a newer copy was quicker. */
static long litifut_copy_file(const char *from, const char *to, bool sync,
			      struct litifut_copies *copies)
{
	char temporary[LITIFUT_FILE_PATH_BYTES + 4 + LITIFUT_NUMBER_BYTES];
	uint32_t number = litifut_add(&copies->begun, 1) + 1;
	long source = litifut_open(from, O_RDONLY, 0);
	long target = source;
	long result = source;

	temporary[0] = 0;
	litifut_append(temporary, sizeof(temporary), to);
	if (number > 1) {
		litifut_append(temporary, sizeof(temporary), ".");
		litifut_append_number(temporary, sizeof(temporary), number);
	}
	litifut_append(temporary, sizeof(temporary), ".tmp");
	if (!litifut_failed(source)) {
		/* one that a loss of power has left: nothing half-written is continued */
		LITIFUT_CALL1(unlink, temporary);
		target = litifut_open_to_write(temporary, O_WRONLY | O_CREAT | O_EXCL);
		result = target;
	}
	if (!litifut_failed(target)) {
		result = litifut_copy_all(source, target, sync);
		number = litifut_add(&copies->read, 1) + 1;
		if (!litifut_failed(result) && sync)
			result = LITIFUT_CALL1(fsync, target);
		litifut_close(target);
		if (!litifut_failed(result) && !litifut_is_newest(&copies->named, number))
			result = -ESTALE;
		if (!litifut_failed(result))
			result = LITIFUT_CALL2(rename, temporary, to);
		if (litifut_failed(result))
			LITIFUT_CALL1(unlink, temporary);
	}
	if (!litifut_failed(source))
		litifut_close(source);
	return result;
}

void litifut_maps_write(const struct litifut_trace_file *file)
{
	struct litifut_recorder *r = &litifut_recorder;
	char path[LITIFUT_FILE_PATH_BYTES];

	litifut_file_path(file, path, r->settings.directory, "maps");
	litifut_copy_file("/proc/self/maps", path, false, &r->maps_copies);
}

static void litifut_carry(const char *kind, struct litifut_copies *copies)
{
	struct litifut_recorder *r = &litifut_recorder;
	char from[LITIFUT_FILE_PATH_BYTES];
	char to[LITIFUT_FILE_PATH_BYTES];
	long result;

	litifut_file_path(&r->file, from, r->settings.directory, kind);
	litifut_file_path(&r->file, to, r->settings.copy_to, kind);
	result = litifut_copy_file(from, to, true, copies);
	if (result != -ESTALE)
		litifut_tell(litifut_failed(result) ? "can't copy to " : "copied to ", to, result);
}

void litifut_files_carry(void)
{
	struct litifut_recorder *r = &litifut_recorder;
	const char *copy_to = r->settings.copy_to;

	if (!copy_to[0])
		return;
	litifut_directories_make(copy_to);
	litifut_sync_around(copy_to);
	litifut_carry("trace", &r->carried_traces);
	litifut_carry("maps", &r->carried_maps);
	litifut_sync_around(copy_to);
}
