/* Where in the memory of a firmware its results are, as the ELF file says. */
#ifndef LITIFUT_LDWRAP_CAPTURE_MEMORY_H
#define LITIFUT_LDWRAP_CAPTURE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <litifut/frames_format.h>

#include "common/error.h"

#define CAPTURE_PIECES 8

struct capture_memory {
	struct capture_piece {
		uint32_t start;
		uint32_t end;
	} pieces[CAPTURE_PIECES]; /* in order */
	size_t count;
	bool too_many;     /* not all pieces are here */
	uint32_t identity; /* the address of what identifies the build */
	uint8_t bytes[sizeof(struct litifut_identity)]; /* and what stands there */
};

/* Finds what a dump of the memory has to have. Fails if the file is not a traced firmware, or its
 * results are in too many places, or too far apart. */
enum litifut_status capture_memory_find(const char *elf, struct capture_memory *firmware,
					struct litifut_error *error);

#endif
