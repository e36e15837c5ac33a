/* Two ways into the file.
 *
 * Mapped: chunks are shared mappings of the file, so that what was recorded is in it
 * whatever becomes of the process. Room is made before a chunk is mapped. But where the
 * file system compresses or copies on write (UBIFS, JFFS2, btrfs, f2fs), or the medium can
 * be pulled, there may be no room all the same when a page is written, and then the
 * program gets a SIGBUS; JFFS2 has no shared mappings at all.
 *
 * Written: chunks are memory, written when they are full and when the trace ends. A
 * process that is killed loses up to a chunk for each thread, and no more. On NFS and its like
 * write(2) succeeds before the server has answered, so fdatasync(2) asks it for each chunk. */

#include "tracer/sink/sink.h"

#include <asm/statfs.h>
#include <litifut/trace_format.h>

#include "tracer/port/linux/memory.h"
#include "tracer/port/linux/room.h"
#include "tracer/port/linux/system.h"
#include "tracer/recorder/state.h"

static bool litifut_mapped_save(long descriptor, uint64_t offset, uint32_t address, uint32_t size)
{
	(void)descriptor;
	(void)offset;
	(void)address;
	(void)size;
	return true;
}

/* So that the file does not end within a chunk. */
static bool litifut_written_room(long descriptor, uint64_t offset, uint32_t size)
{
	static const uint32_t litifut_nothing;

	return litifut_write_at(descriptor, &litifut_nothing, 4, offset + size - 4) == 4;
}

static uint32_t litifut_written_memory(long descriptor, uint64_t offset, uint32_t size,
				       uint32_t multiple)
{
	(void)descriptor;
	(void)offset;
	return litifut_map_before(-1, 0, size, multiple);
}

static bool litifut_written_save(long descriptor, uint64_t offset, uint32_t address, uint32_t size)
{
	/* or there is a SIGXFSZ: the program may have lowered it since */
	if (!litifut_within_file_limit(offset + size))
		return false;
	while (size) {
		long done = litifut_write_at(descriptor, (const void *)address, size, offset);

		if (done == -EINTR)
			continue;
		if (done <= 0)
			return false;
		offset += (uint64_t)done;
		address += (uint32_t)done;
		size -= (uint32_t)done;
	}
	return true;
}

const struct litifut_sink litifut_sinks[] = {
	[LITIFUT_FILE_MAP - LITIFUT_FILE_MAP] = {.flags = 0,
						 .room = litifut_file_grow,
						 .memory = litifut_map_before,
						 .save = litifut_mapped_save},
	[LITIFUT_FILE_WRITE - LITIFUT_FILE_MAP] = {.flags = LITIFUT_TRACE_WRITE,
						   .room = litifut_written_room,
						   .memory = litifut_written_memory,
						   .save = litifut_written_save},
};

#define LITIFUT_GOOD_SYSTEMS 4

/* What a file system can be trusted with; statfs(2) has these numbers. */
static const uint32_t litifut_systems[] = {
	/* the good ones, where room that was made is room */
	0x01021994, /* tmpfs */
	0x858458f6, /* ramfs */
	0x0000ef53, /* ext2, ext3, ext4 */
	0x58465342, /* xfs */
	/* what was written may not be there */
	0x00006969, /* NFS */
	0xff534d42, /* CIFS */
	0xfe534d42, /* the same, SMB 2 */
	0x01021997, /* 9P */
	0x00c36400, /* Ceph */
	0x65735546, /* FUSE */
};

void litifut_sink_choose(struct litifut_trace_file *file)
{
	const uint32_t count = sizeof(litifut_systems) / sizeof(litifut_systems[0]);
	uint32_t way = litifut_recorder.settings.file;
	struct statfs64 told;
	uint32_t system = 0;

	if (litifut_failed(LITIFUT_CALL3(fstatfs64, file->descriptor, sizeof(told), &told)))
		system = count;
	while (system < count && litifut_systems[system] != (uint32_t)told.f_type)
		system++;
	if (way == LITIFUT_FILE_UNSET)
		way = system < LITIFUT_GOOD_SYSTEMS ? LITIFUT_FILE_MAP : LITIFUT_FILE_WRITE;
	file->sink = litifut_sink_of(way);
	file->settles =
		way == LITIFUT_FILE_WRITE && system >= LITIFUT_GOOD_SYSTEMS && system < count;
}

uint64_t litifut_sink_bound(long descriptor)
{
	uint32_t max_mb = litifut_recorder.settings.max_mb;
	struct statfs64 told;

	if (max_mb != LITIFUT_MAX_MB_UNSET)
		return (uint64_t)max_mb << 20;
	if (litifut_failed(LITIFUT_CALL3(fstatfs64, descriptor, sizeof(told), &told)) ||
	    !told.f_blocks)
		return 0;
	return (uint64_t)told.f_bavail * (uint32_t)told.f_bsize / 4;
}
