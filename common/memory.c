#include "common/memory.h"

#include <errno.h>
#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/parallel.h"

/* Of one that is smaller few bytes are whole huge pages. */
#define LARGE (3u << 20)

/* Of a file, read at once. */
#define READ_BYTES (2u << 20)

void litifut_memory_keep(void)
{
	mallopt(M_MMAP_THRESHOLD, 1 << 30);
	mallopt(M_TRIM_THRESHOLD, 1 << 30);
	mallopt(M_TOP_PAD, 4 << 20);
}

/* Whole pages of it, as far as there are any. */
static size_t whole_pages(uint8_t *memory, size_t bytes, uint8_t **first)
{
	const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	const uintptr_t start = ((uintptr_t)memory + page - 1) & ~(page - 1);
	const uintptr_t end = ((uintptr_t)memory + bytes) & ~(page - 1);

	*first = memory + (start - (uintptr_t)memory);
	return end > start ? end - start : 0;
}

static void want_huge_pages(void *memory, size_t bytes)
{
	uint8_t *first;
	size_t size = whole_pages(memory, bytes, &first);

	if (memory && bytes >= LARGE)
		madvise(first, size, MADV_HUGEPAGE);
}

void *litifut_memory_array(size_t count, size_t size)
{
	return litifut_memory_resized(NULL, count, size);
}

void *litifut_memory_resized(void *memory, size_t count, size_t size)
{
	void *resized = reallocarray(memory, count, size);

	want_huge_pages(resized, resized ? count * size : 0);
	return resized;
}

struct reading {
	uint8_t *bytes;
	size_t size;
	int file;
	off_t offset;
	int failed; /* errno, changed atomically */
};

static void read_piece(void *context, size_t worker, size_t piece)
{
	struct reading *reading = context;
	size_t at = piece * READ_BYTES;
	size_t end = reading->size - at < READ_BYTES ? reading->size : at + READ_BYTES;

	(void)worker;
	while (at < end) {
		ssize_t got = pread(reading->file, reading->bytes + at, end - at,
				    reading->offset + (off_t)at);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0) {
			__atomic_store_n(&reading->failed, got ? errno : EIO, __ATOMIC_RELAXED);
			return;
		}
		at += (size_t)got;
	}
}

bool litifut_memory_own(uint8_t *start, uint8_t *end, int file, off_t offset)
{
	struct reading reading = {.file = file};

	reading.size = whole_pages(start, (size_t)(end - start), &reading.bytes);
	if (reading.size < LARGE)
		return true;
	reading.offset = offset + (reading.bytes - start);
	if (mmap(reading.bytes, reading.size, PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED)
		return true; /* the mapping of the file is still there */
	madvise(reading.bytes, reading.size, MADV_HUGEPAGE);
	litifut_parallel((reading.size + READ_BYTES - 1) / READ_BYTES, read_piece, &reading);
	errno = reading.failed;
	return !reading.failed;
}
