/* For targets whose code takes the path of a file: one in memory, with the bytes of the input. */
#ifndef LITIFUT_TESTS_FUZZ_FILE_H
#define LITIFUT_TESTS_FUZZ_FILE_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/* Its path, good until the next call; NULL: there is none. */
static inline const char *fuzz_file(const uint8_t *data, size_t size)
{
	static char path[64];
	static int file = -1;

	if (file < 0)
		file = memfd_create("fuzz", 0);
	if (file < 0 || ftruncate(file, 0) || pwrite(file, data, size, 0) != (ssize_t)size)
		return NULL;
	snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)getpid(), file);
	return path;
}

#endif
