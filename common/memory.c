#include "common/memory.h"

#include <errno.h>
#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/* Of one that is smaller few bytes are whole huge pages. */
#define LARGE (3u << 20)

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
