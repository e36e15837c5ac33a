/* The build-id of a rewritten image. The linker computes it from the image before the rewriting, so
 * it would be the same whatever is recorded; but a trace of spans or paths can be followed only
 * with the image that made it. */
#ifndef LITIFUT_REWRITER_IDENTITY_H
#define LITIFUT_REWRITER_IDENTITY_H

#include <litifut/module_format.h>
#include <stddef.h>
#include <stdint.h>

#include "common/error.h"
#include "rewriter/image.h"
#include "rewriter/sites.h"

/* What a reader of a trace needs of the image. */
struct litifut_identity_facts {
	const struct litifut_section *db;
	const struct litifut_site_list *sites;
	const uint8_t *blocks; /* the contents of .litifut.blocks; NULL: there are none */
	size_t blocks_bytes;
};

/* What the note becomes. */
struct litifut_build_id {
	uint8_t *bytes; /* owned; NULL: the image has no build-id, or keeps it */
	size_t size;
};

/* Mixes the facts and the rest of `module` into the build-id that is in it, the linker's, and
 * makes `note` for the image, the same id at its whole length. The same facts make the same id; the
 * name of the module and LITIFUT_DEFAULTS, which do not change what a trace means, are left
 * out. An id of the user's own stays (`keeps`). The error is that there is no memory. */
enum litifut_status litifut_identity_mix(const struct litifut_image *image,
					 const struct litifut_identity_facts *facts, bool keeps,
					 struct litifut_module *module,
					 struct litifut_build_id *note,
					 struct litifut_error *error);

#endif
