/* What the ELF file of a firmware says: where the tracer's objects are, and which build it is. */
#ifndef LITIFUT_POSTPROC_SOURCES_FIRMWARE_IMAGE_H
#define LITIFUT_POSTPROC_SOURCES_FIRMWARE_IMAGE_H

#include "postproc/sources/image.h"
#include "postproc/sources/inputs.h"

/* A little-endian word. */
static inline uint32_t post_firmware_word(const uint8_t *bytes)
{
	return bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 |
	       (uint32_t)bytes[3] << 24;
}

/* The address and size of an object by its name. False: there is none. */
bool post_firmware_object(const struct post_image *image, const char *name, uint32_t *address,
			  uint32_t *size);

/* Copies what begins each round that it sends, without the number of the round, to
 * LITIFUT_HEADER_BYTES `bytes`. False: it sends nothing. */
bool post_firmware_header(const struct post_image *image, uint8_t *bytes);

/* Copies its struct litifut_identity to `bytes`, as it stands there. False: it has none. */
bool post_firmware_identity(const struct post_image *image, uint8_t *bytes, uint32_t *address);

/* Of the ELF files that were given, the one that has this hash; NULL: the only one of a traced
 * firmware. The caller owns *found. */
enum litifut_status post_firmware_image(const char *path, const struct post_inputs *inputs,
					const uint8_t *hash, struct post_image **found,
					struct litifut_error *error);

#endif
