/* The files of a trace: DIR/trace/NAME.PID.trace and DIR/maps/NAME.PID.maps. */

#include "tracer/port/linux/files.h"

#include <stddef.h>

#include "tracer/port/linux/folder.h"
#include "tracer/port/linux/room.h"
#include "tracer/port/linux/system.h"
#include "tracer/recorder/state.h"
#include "tracer/recorder/text.h"
#include "tracer/recorder/verbose.h"
#include "tracer/sink/sink.h"

/* How often another process may take a number that was free, before the trace is given up. */
#define LITIFUT_NAME_TRIES 100

/* The descriptor is kept out of the way of programs that expect theirs to
 * be the lowest numbers. */
static long litifut_descriptor_move(long descriptor)
{
	static const uint16_t litifut_lowest[] = {900, 200, 100, 50, 20, 10};

	for (unsigned i = 0; i < sizeof(litifut_lowest) / sizeof(litifut_lowest[0]); i++) {
		long high = LITIFUT_CALL3(fcntl64, descriptor, F_DUPFD_CLOEXEC, litifut_lowest[i]);

		if (!litifut_failed(high)) {
			litifut_close(descriptor);
			return high;
		}
	}
	return descriptor;
}

long litifut_open_to_write(long folder, const char *name, uint32_t flags)
{
	long descriptor;
	long moved;

	if (litifut_failed(folder))
		return folder;
	descriptor = LITIFUT_CALL4(
		openat, folder, name,
		flags | O_LARGEFILE | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0600);
	if (litifut_failed(descriptor) || descriptor > 2)
		return descriptor;
	moved = LITIFUT_CALL3(fcntl64, descriptor, F_DUPFD_CLOEXEC, 3);
	litifut_close(descriptor);
	if (litifut_failed(moved) && flags & O_CREAT)
		LITIFUT_CALL3(unlinkat, folder, name, 0);
	return moved;
}

/* Device and inode, as the kernel numbers them. */
static bool litifut_is_identity(const uint32_t *stat, const uint32_t identity[3])
{
	uint32_t found[3];

	litifut_port_file_identity(stat, found);
	return found[0] == identity[0] && found[1] == identity[1] && found[2] == identity[2];
}

static bool litifut_is_file(const struct litifut_trace_file *file, long descriptor)
{
	uint32_t stat[40];

	return !litifut_failed(LITIFUT_CALL2(fstat64, descriptor, stat)) &&
	       litifut_is_identity(stat, file->identity);
}

bool litifut_is_trace(const struct litifut_trace_file *file)
{
	return file->descriptor >= 0 && litifut_is_file(file, file->descriptor);
}

void litifut_file_name(const struct litifut_trace_file *file, char name[LITIFUT_FILE_NAME_BYTES],
		       const char *kind)
{
	struct litifut_text text;

	litifut_text_start(&text, name, LITIFUT_FILE_NAME_BYTES, litifut_recorder.program);
	litifut_text_add(&text, ".");
	litifut_text_add_number(&text, file->process);
	if (file->name_number > 1) {
		litifut_text_add(&text, ".");
		litifut_text_add_number(&text, file->name_number);
	}
	litifut_text_add(&text, ".");
	litifut_text_add(&text, kind);
}

void litifut_file_tell(const char *what, const char *base, const char *kind, const char *name,
		       long result)
{
	char path[LITIFUT_FILE_PATH_BYTES];
	struct litifut_text text;

	if (!litifut_recorder.settings.verbose)
		return;
	litifut_text_start(&text, path, sizeof(path), base);
	litifut_text_add(&text, "/");
	litifut_text_add(&text, kind);
	litifut_text_add(&text, "/");
	litifut_text_add(&text, name);
	litifut_tell(what, path, result);
}

/* The folder of traces is held, because after chroot() its path leads elsewhere. The
 * program may have closed it, or have another file under its number. */
static bool litifut_holds_folder(void)
{
	const struct litifut_recorder *r = &litifut_recorder;
	uint32_t stat[40];

	return r->folder > 0 &&
	       !litifut_failed(LITIFUT_CALL4(fstatat64, r->folder, ".", stat, 0)) &&
	       litifut_is_identity(stat, r->folder_identity);
}

long litifut_traces_folder(void)
{
	struct litifut_recorder *r = &litifut_recorder;
	uint32_t stat[40];

	if (litifut_holds_folder())
		return r->folder;
	r->folder = litifut_folder_open(r->settings.directory, "trace", LITIFUT_FOLDER_MAKE);
	if (litifut_failed(r->folder))
		return r->folder;
	r->folder = litifut_descriptor_move(r->folder);
	if (!litifut_failed(LITIFUT_CALL4(fstatat64, r->folder, ".", stat, 0)))
		litifut_port_file_identity(stat, r->folder_identity);
	return r->folder;
}

/* Holds the folder no longer. False: none was held. */
static bool litifut_folder_drop(void)
{
	if (!litifut_holds_folder())
		return false;
	litifut_close(litifut_recorder.folder);
	litifut_recorder.folder = -1;
	return true;
}

void litifut_files_close(void)
{
	struct litifut_trace_file *file = &litifut_recorder.file;

	if (litifut_is_trace(file))
		litifut_close(file->descriptor);
	file->descriptor = -1;
	litifut_folder_drop();
}

long litifut_maps_folder(void)
{
	return litifut_folder_beside(litifut_traces_folder(), "maps", LITIFUT_FOLDER_MAKE);
}

static __attribute__((noinline)) long litifut_trace_open_by_path(struct litifut_trace_file *file)
{
	char name[LITIFUT_FILE_NAME_BYTES];
	long descriptor;

	litifut_file_name(file, name, "trace");
	descriptor = litifut_open_to_write(litifut_traces_folder(), name, O_RDWR);
	if (litifut_failed(descriptor))
		return descriptor;
	if (!litifut_is_file(file, descriptor)) {
		litifut_close(descriptor);
		return -ENOENT;
	}
	descriptor = litifut_descriptor_move(descriptor);
	file->descriptor = descriptor;
	return descriptor;
}

long litifut_trace_descriptor(struct litifut_trace_file *file)
{
	if (litifut_system_calls_forbidden)
		return -ENOSYS;
	return litifut_is_trace(file) ? file->descriptor : litifut_trace_open_by_path(file);
}

/* Makes a path of the settings absolute, or empty when that can't be done. */
static void litifut_path_absolute(char *path)
{
	char given[LITIFUT_PATH_BYTES];
	struct litifut_text text;
	const char *rest = given;
	uint32_t length;

	if (!path[0] || path[0] == '/')
		return;
	litifut_copy(given, path, LITIFUT_PATH_BYTES);
	while (rest[0] == '.' && rest[1] == '/')
		rest += 2;
	/* Whoever starts a set-uid program chooses where it stands. */
	if (litifut_recorder.secure ||
	    litifut_failed(LITIFUT_CALL2(getcwd, path, LITIFUT_PATH_BYTES))) {
		path[0] = 0;
		return;
	}
	length = litifut_length(path);
	litifut_text_start(&text, path + length, LITIFUT_PATH_BYTES - length, "/");
	litifut_text_add(&text, rest);
	if (text.cut)
		path[0] = 0;
}

void litifut_files_start(void)
{
	litifut_path_absolute(litifut_recorder.settings.directory);
	litifut_path_absolute(litifut_recorder.settings.copy_to);
}

static bool litifut_header_room(const struct litifut_sink *sink, long descriptor)
{
	/* what lies between is never written; it can be left out where pages are as small */
	if (litifut_recorder.page_bytes > LITIFUT_FIRST_EVENTS_BYTES)
		return sink->room(descriptor, 0, LITIFUT_HEADER_BYTES);
	return sink->room(descriptor, 0, LITIFUT_FIRST_METADATA + LITIFUT_FIRST_METADATA_BYTES) &&
	       sink->room(descriptor, LITIFUT_FIRST_EVENTS, LITIFUT_FIRST_EVENTS_BYTES);
}

/* There is a trace of this name and process already: a program has executed another of the same
 * name, or a device gives a daemon the same process id each time it starts. Finds a number that is
 * free behind those in use, of which there may be thousands. */
static uint32_t litifut_free_number(struct litifut_trace_file *file, long folder)
{
	char name[LITIFUT_FILE_NAME_BYTES];
	uint32_t stat[40];
	uint32_t used = 1;
	uint32_t unused = 0;

	while (unused != used + 1) {
		const uint32_t number = unused ? used + (unused - used) / 2 : used * 2;

		file->name_number = number;
		litifut_file_name(file, name, "trace");
		if (number < 1u << 30 &&
		    !litifut_failed(LITIFUT_CALL4(fstatat64, folder, name, stat, 0)))
			used = number;
		else
			unused = number;
	}
	return unused;
}

/* The header takes 16 KiB, a multiple of every page size of the traced CPUs and of the
 * distance (SHMLBA) at which CPUs with aliasing caches want shared mappings of
 * one file: a chunk's address is a multiple of its size, so its place in the
 * file has to be one of 16 KiB. */
bool litifut_trace_create(struct litifut_trace_file *file)
{
	const struct litifut_settings *settings = &litifut_recorder.settings;
	char name[LITIFUT_FILE_NAME_BYTES];
	uint32_t stat[40];
	long folder;
	long descriptor = -EEXIST;
	long header = litifut_within_limits(LITIFUT_HEADER_BYTES) ? -ENOSPC : -EFBIG;
	uint32_t place = 0;

	if (!settings->directory[0]) {
		litifut_recorder.trouble = -EINVAL;
		litifut_tell("not recording: ", "LITIFUT_DIR is of no use", 0);
		return false;
	}
	folder = litifut_traces_folder();
	for (unsigned tries = 0; descriptor == -EEXIST && tries < LITIFUT_NAME_TRIES; tries++) {
		file->name_number = tries ? litifut_free_number(file, folder) : 1;
		litifut_file_name(file, name, "trace");
		descriptor = litifut_open_to_write(folder, name, O_RDWR | O_CREAT | O_EXCL);
		/* it has been removed: whoever removes traces need not end the program before it */
		if (descriptor == -ENOENT && !tries && litifut_folder_drop()) {
			folder = litifut_traces_folder();
			descriptor = -EEXIST;
		}
	}
	litifut_recorder.trouble = descriptor;
	if (litifut_failed(descriptor)) {
		litifut_file_tell("not recording, can't make ", settings->directory, "trace", name,
				  descriptor);
		return false;
	}
	descriptor = litifut_descriptor_move(descriptor);
	file->descriptor = descriptor;
	litifut_sink_choose(file);
	file->max_bytes = litifut_sink_bound(descriptor);
	if (!litifut_failed(LITIFUT_CALL2(fstat64, descriptor, stat)) && header != -EFBIG &&
	    litifut_header_room(file->sink, descriptor))
		place = file->sink->memory(descriptor, 0, LITIFUT_HEADER_BYTES,
					   litifut_recorder.chunk_mask + 1);
	if (!place) {
		litifut_file_tell("not recording, no room for ", settings->directory, "trace", name,
				  header);
		LITIFUT_CALL3(unlinkat, folder, name, 0);
		litifut_close(descriptor);
		file->descriptor = -1;
		return false;
	}
	litifut_port_file_identity(stat, file->identity);
	file->header = (struct litifut_trace_header *)place;
	file->first_events = 0;
	litifut_file_tell(settings->start_off ? "recording is off (LITIFUT_START), would go to "
					      : "recording to ",
			  settings->directory, "trace", name, 0);
	return true;
}
