/* Shared by image.c and image_load.c alone. */
#ifndef LITIFUT_POSTPROC_SOURCES_IMAGE_PRIVATE_H
#define LITIFUT_POSTPROC_SOURCES_IMAGE_PRIVATE_H

#include <gelf.h>

#include "postproc/sources/image.h"

/* Four bytes in the byte order of the file's data. */
uint32_t post_image_number(const struct post_image *image, const uint8_t *bytes);

/* Contents of the first section of that name, NULL when there is none. */
Elf_Data *post_image_section(const struct post_image *image, const char *name, GElf_Shdr *header);

#endif
