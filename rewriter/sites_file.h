/* The list of call sites: at the end of the image, or in a file beside it. */
#ifndef LITIFUT_REWRITER_SITES_FILE_H
#define LITIFUT_REWRITER_SITES_FILE_H

#include <stddef.h>
#include <stdint.h>

#include "common/error.h"
#include "rewriter/image.h"
#include "rewriter/sites.h"

struct litifut_site_table {
	const struct litifut_site_list *list;
	const uint8_t *build_id; /* of the module */
	uint32_t build_id_bytes;
};

/* Puts the list `behind` bytes (a multiple of 4) behind the end of the image's file, open as
 * `descriptor`, and makes the section header of .litifut.sites name that place: the section is
 * not loaded, so that nothing else has to move. */
enum litifut_status litifut_sites_append(const struct litifut_image *image, int descriptor,
					 const struct litifut_site_table *table, uint32_t behind,
					 struct litifut_error *error);

/* The same for the contents of .litifut.blocks, at the end. */
enum litifut_status litifut_blocks_append(const struct litifut_image *image, int descriptor,
					  const uint8_t *blocks, size_t bytes,
					  struct litifut_error *error);

/* Writes an ELF file that holds nothing but the list and the build-id that it
 * is found by. */
enum litifut_status litifut_sites_write_file(const struct litifut_image *image, const char *path,
					     const struct litifut_site_table *table,
					     struct litifut_error *error);

#endif
