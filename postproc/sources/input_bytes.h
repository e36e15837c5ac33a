/* The bytes of an input file, plain or compressed, as one piece of memory. */
#ifndef LITIFUT_POSTPROC_SOURCES_INPUT_BYTES_H
#define LITIFUT_POSTPROC_SOURCES_INPUT_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/error.h"
#include "postproc/problems.h"

/* Maps a plain file; unpacks a .gz or .zst one (known by its first bytes) into
 * an unnamed file in TMPDIR and maps that, so that big traces need no memory
 * of the process, and zeros no disk. A compressed file that ends early is reported, and one that
 * needs more than half of the free room in TMPDIR, and what was unpacked is given. An empty file
 * gives size 0. */
enum litifut_status post_input_map(const char *path, uint8_t **data, size_t *size,
				   struct post_problems *problems, struct litifut_error *error);

/* The most bytes that one compressed file may unpack to, 64 GiB if this is never called.
 * For main files, before anything is read. */
void post_input_limit(uint64_t bytes);

/* What may be unpacked to TMPDIR: the limit, or half of the room there. */
uint64_t post_input_room(void);

void post_input_unmap(uint8_t *data, size_t size);

/* Do the first bytes say .gz or .zst? */
bool post_input_is_packed(const char *path);

/* Reads up to `size` bytes from the start of the file, unpacked. Returns how
 * many there are, 0 on any trouble. */
size_t post_input_peek(const char *path, uint8_t *bytes, size_t size);

#endif
