/* Writing a rewritten image into its file. */
#ifndef LITIFUT_REWRITER_SAVE_H
#define LITIFUT_REWRITER_SAVE_H

#include <stddef.h>
#include <stdint.h>

#include "common/error.h"
#include "rewriter/changes.h"
#include "rewriter/image.h"
#include "rewriter/sites_file.h"

/* What has changed. */
struct litifut_saved {
	const struct litifut_section *const *sections; /* some may be NULL */
	size_t section_count;
	const uint8_t *const *changed; /* bytes in the image whose sections have changed, or NULL */
	size_t changed_count;
	const struct litifut_changes *code; /* sorted; all executable sections are written */
	uint32_t entry;                     /* the new entry point; 0: the old one stays */
	struct litifut_site_table sites;
	const char
		*sites_file;   /* the list of call sites goes there; NULL: to the end of the file */
	const uint8_t *blocks; /* the contents of .litifut.blocks; NULL: there are none */
	size_t blocks_bytes;   /* of them, a multiple of 4 */
	const uint8_t *build_id; /* the new one, as long as that of the image; NULL: it stays */
	size_t build_id_bytes;
};

/* Writes to image->path. */
enum litifut_status litifut_save(const struct litifut_image *image,
				 const struct litifut_saved *saved, struct litifut_error *error);

#endif
