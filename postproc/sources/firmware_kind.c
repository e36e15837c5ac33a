#include "postproc/sources/firmware_kind.h"

#include <litifut/frames_format.h>
#include <litifut/kept_format.h>
#include <stddef.h>
#include <stdlib.h>

#include "postproc/sources/capture.h"
#include "postproc/sources/input_bytes.h"
#include "postproc/table.h"

/* What is looked at to find out what a file is. */
#define PEEKED (1u << 20)

static uint32_t word_at(const uint8_t *bytes)
{
	return bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 |
	       (uint32_t)bytes[3] << 24;
}

size_t post_find_identity(const uint8_t *bytes, size_t size, size_t from)
{
	for (size_t at = from; at + sizeof(struct litifut_identity) <= size; at++)
		if (word_at(bytes + at) == LITIFUT_IDENTITY_MAGIC &&
		    bytes[at + offsetof(struct litifut_identity, version)] ==
			    LITIFUT_FRAMES_VERSION)
			return at;
	return size;
}

bool post_firmware_is_dump(const uint8_t *bytes, size_t size)
{
	/* A ring that outlasts a reset can be in memory far below that of the identity. */
	return post_find_identity(bytes, size, 0) != size ||
	       (size >= KEPT_BYTES && word_at(bytes) == LITIFUT_KEPT_MAGIC);
}

bool post_firmware_is(const char *path)
{
	uint8_t *start = post_allocate(PEEKED, 1);
	size_t size = post_input_peek(path, start, PEEKED);
	bool is = post_capture_is(start, size) || post_firmware_is_dump(start, size) ||
		  post_capture_is_rest(start, size);

	free(start);
	return is;
}
