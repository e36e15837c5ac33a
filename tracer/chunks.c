/* Chunks of the trace file: given out by one shared counter, mapped shared, so
 * that what is written in them reaches the file whatever becomes of the
 * process. */

#include <linux/resource.h>
#include <stddef.h>

#include "tracer/recorder.h"
#include "tracer/system.h"

/* Makes room for [offset, offset + size) in the file, so that no write to the
 * mapping can meet a full disk, which would be a SIGBUS. Never shrinks it. */
bool litifut_file_grow(long descriptor, uint64_t offset, uint32_t size)
{
	static const uint8_t zeros[256];
	long result;

#ifdef LITIFUT_PORT_FALLOCATE
	result = LITIFUT_PORT_FALLOCATE(descriptor, offset, size);
	if (!litifut_failed(result))
		return true;
	if (result != -EOPNOTSUPP && result != -ENOSYS)
		return false;
#endif
	for (uint32_t done = 0; done < size; done += sizeof(zeros)) {
		result = litifut_write_at(descriptor, zeros, sizeof(zeros), offset + done);
		if (result != (long)sizeof(zeros))
			return false;
	}
	return true;
}

/* Writing beyond RLIMIT_FSIZE would bring the program a SIGXFSZ. */
bool litifut_within_limits(uint64_t end)
{
	uint32_t limit[2];

	if (litifut_recorder.settings.max_mb && end > (uint64_t)litifut_recorder.settings.max_mb
								<< 20)
		return false;
	if (litifut_failed(litifut_system_call(LITIFUT_PORT_GETRLIMIT, RLIMIT_FSIZE, (long)limit, 0,
					       0, 0, 0)))
		return true;
	/* 0x7fffffff is "no limit" in the old ABI of MIPS */
	return limit[0] >= 0x7fffffff || end <= limit[0];
}

/* Maps `size` bytes of the file at a multiple of `size`. */
static uint32_t litifut_map_aligned(long descriptor, uint64_t offset, uint32_t size)
{
	long room = litifut_map(0, 2 * size, PROT_NONE, -1, 0);
	uint32_t start = (uint32_t)room;
	uint32_t aligned = (start + size - 1) & ~(size - 1);
	long result;

	if (litifut_failed(room))
		return 0;
	litifut_unmap(start, aligned - start);
	litifut_unmap(aligned + size, start + size - aligned);
	result = litifut_map(aligned, size, PROT_READ | PROT_WRITE, descriptor, offset);
	if (!litifut_failed(result))
		return aligned;
	litifut_unmap(aligned, size);
	return 0;
}

uint32_t litifut_chunk_new(uint32_t kind, uint32_t thread)
{
	struct litifut_recorder *r = &litifut_recorder;
	uint32_t size = r->chunk_mask + 1;
	struct litifut_chunk_header *chunk;
	uint32_t number;
	uint64_t offset;
	long descriptor;

	if (r->full)
		return 0;
	number = litifut_add(&r->chunk_count, 1);
	offset = LITIFUT_HEADER_BYTES + (uint64_t)number * size;
	descriptor = litifut_trace_descriptor();
	if (descriptor < 0 || !litifut_within_limits(offset + size) ||
	    !litifut_file_grow(descriptor, offset, size)) {
		r->full = 1;
		return 0;
	}
	chunk = (struct litifut_chunk_header *)litifut_map_aligned(descriptor, offset, size);
	if (!chunk) {
		r->full = 1;
		return 0;
	}
	chunk->thread = thread;
	chunk->number = number;
	chunk->encoding = LITIFUT_ENCODING_WORDS;
	chunk->flags = r->settings.clock == LITIFUT_CLOCK_NONE ? 0 : LITIFUT_CHUNK_TIMED;
	chunk->kind = (uint16_t)kind;
	litifut_port_barrier(r->features);
	chunk->magic = LITIFUT_CHUNK_MAGIC;
	return (uint32_t)chunk;
}

void litifut_chunk_close(uint32_t cursor)
{
	struct litifut_recorder *r = &litifut_recorder;
	uint32_t base = (cursor - 1) & ~r->chunk_mask;
	struct litifut_chunk_header *chunk = (struct litifut_chunk_header *)base;
	bool hole = false;

	/* A zero word is a slot whose writer was interrupted by a signal and has
	 * yet to come back; unmapping would make it fault. A zero that belongs
	 * to an event only keeps the chunk mapped for nothing. */
	for (const uint32_t *word = (const uint32_t *)(chunk + 1); word < (uint32_t *)cursor;
	     word++)
		hole |= !*(const volatile uint32_t *)word;
	chunk->used_bytes = cursor - base - (uint32_t)sizeof(*chunk);
	litifut_port_barrier(r->features);
	chunk->flags |= LITIFUT_CHUNK_CLOSED;
	if (!hole)
		litifut_unmap(base, r->chunk_mask + 1);
}
