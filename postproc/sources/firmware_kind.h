/* Is a file what a firmware has sent, or a dump of its memory? */
#ifndef LITIFUT_POSTPROC_SOURCES_FIRMWARE_KIND_H
#define LITIFUT_POSTPROC_SOURCES_FIRMWARE_KIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* By its contents. */
bool post_firmware_is(const char *path);

/* Is it a dump? */
bool post_firmware_is_dump(const uint8_t *bytes, size_t size);

/* Where a struct litifut_identity stands in `bytes`, from `from` on; `size`: nowhere. It can be
 * at any place, as a dump can begin at any address. */
size_t post_find_identity(const uint8_t *bytes, size_t size, size_t from);

#endif
