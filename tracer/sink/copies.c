/* Copies of the files of a trace, and the maps beside it, which are one. */

#include "tracer/sink/copies.h"

#include <stdbool.h>
#include <stddef.h>

#include "tracer/port/linux/files.h"
#include "tracer/port/linux/folder.h"
#include "tracer/port/linux/room.h"
#include "tracer/port/linux/system.h"
#include "tracer/recorder/shared.h"
#include "tracer/recorder/state.h"
#include "tracer/recorder/text.h"
#include "tracer/recorder/verbose.h"

/* A USB stick takes a fraction of a second for that many. */
#define LITIFUT_SYNC_BYTES (1u << 20)

/* Copies what can be read from one descriptor to the other, the whole file wherever its
 * position is; 0 when that is all, -ENODATA when it is nothing. With `sync`, what has been copied
 * is safe every now and then, should the stick be pulled. */
static long litifut_copy_all(long from, long to, bool sync)
{
	char buffer[1024];
	uint64_t copied = 0;
	uint64_t next_sync = 1; /* the first words tell what file it is */

	for (;;) {
		long got = litifut_read_at(from, buffer, sizeof(buffer), copied);

		if (got == -EINTR)
			continue;
		if (got <= 0)
			return got || copied ? got : -ENODATA;
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
 * so that `name` in `folder` is whole or absent. Both are descriptors or errors. Gives
 * 0, or what the kernel had against it; -ESTALE: a newer copy was quicker. With `sync`,
 * it outlives a loss of power afterwards. */
static long litifut_copy_file(long source, long folder, const char *name, bool sync,
			      struct litifut_copies *copies)
{
	char temporary[LITIFUT_FILE_NAME_BYTES + 4 + LITIFUT_NUMBER_BYTES];
	struct litifut_text text;
	uint32_t number = litifut_add(&copies->begun, 1) + 1;
	long target;
	long result;

	if (litifut_failed(source))
		return source;
	if (litifut_failed(folder))
		return folder;
	litifut_text_start(&text, temporary, sizeof(temporary), name);
	if (number > 1) {
		litifut_text_add(&text, ".");
		litifut_text_add_number(&text, number);
	}
	litifut_text_add(&text, ".tmp");
	/* one that a loss of power has left: nothing half-written is continued */
	LITIFUT_CALL3(unlinkat, folder, temporary, 0);
	target = litifut_open_to_write(folder, temporary, O_WRONLY | O_CREAT | O_EXCL);
	if (litifut_failed(target))
		return target;
	result = litifut_copy_all(source, target, sync);
	number = litifut_add(&copies->read, 1) + 1;
	if (!litifut_failed(result) && sync)
		result = LITIFUT_CALL1(fsync, target);
	litifut_close(target);
	if (!litifut_failed(result) && !litifut_is_newest(&copies->named, number))
		result = -ESTALE;
	if (!litifut_failed(result))
		result = LITIFUT_CALL4(renameat, folder, temporary, folder, name);
	if (litifut_failed(result))
		LITIFUT_CALL3(unlinkat, folder, temporary, 0);
	else if (sync)
		litifut_folder_sync(folder);
	return result;
}

void litifut_maps_write(const struct litifut_trace_file *file)
{
	char name[LITIFUT_FILE_NAME_BYTES];
	long source = litifut_open("/proc/self/maps", O_RDONLY, 0);
	long folder = litifut_maps_folder();

	litifut_file_name(file, name, "maps");
	litifut_copy_file(source, folder, name, false, &litifut_recorder.maps_copies);
	litifut_close_good(folder);
	litifut_close_good(source);
}

static void litifut_carry(long source, const char *kind, struct litifut_copies *copies)
{
	struct litifut_recorder *r = &litifut_recorder;
	char name[LITIFUT_FILE_NAME_BYTES];
	long folder = litifut_folder_open(r->settings.copy_to, kind,
					  LITIFUT_FOLDER_MAKE | LITIFUT_FOLDER_SYNC);
	long result;

	litifut_file_name(&r->file, name, kind);
	result = litifut_copy_file(source, folder, name, true, copies);
	litifut_close_good(folder);
	if (result != -ESTALE)
		litifut_file_tell(litifut_failed(result) ? "can't copy to " : "copied to ",
				  r->settings.copy_to, kind, name, result);
}

void litifut_files_carry(void)
{
	struct litifut_recorder *r = &litifut_recorder;
	char name[LITIFUT_FILE_NAME_BYTES];
	long folder;
	long maps;

	if (!r->settings.copy_to[0])
		return;
	litifut_carry(litifut_trace_descriptor(&r->file), "trace", &r->carried_traces);
	litifut_file_name(&r->file, name, "maps");
	folder = litifut_maps_folder();
	maps = litifut_open_to_write(folder, name, O_RDONLY);
	if (litifut_failed(maps)) /* of another user than before, say */
		maps = litifut_open("/proc/self/maps", O_RDONLY, 0);
	litifut_carry(maps, "maps", &r->carried_maps);
	litifut_close_good(maps);
	litifut_close_good(folder);
}
