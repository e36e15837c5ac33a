/* The results of a firmware in a dump of its memory. */
#ifndef LITIFUT_POSTPROC_SOURCES_FIRMWARE_DUMP_H
#define LITIFUT_POSTPROC_SOURCES_FIRMWARE_DUMP_H

#include "postproc/sources/capture.h"
#include "postproc/sources/image.h"
#include "postproc/sources/inputs.h"

/* The place of the identity in the dump says which addresses the dump has. The caller owns what
 * *image and *capture get, also if the status is not LITIFUT_OK. */
enum litifut_status post_firmware_dump(const char *path, const uint8_t *dump, size_t size,
				       const struct post_inputs *inputs, struct post_image **image,
				       struct post_capture *capture, struct litifut_error *error);

#endif
