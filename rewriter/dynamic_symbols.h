/* What the dynamic linker reads of an image: the names of its symbols, and the code that leads to
 * them. */
#ifndef LITIFUT_REWRITER_DYNAMIC_SYMBOLS_H
#define LITIFUT_REWRITER_DYNAMIC_SYMBOLS_H

#include <stdint.h>

#include "cpu/linkage.h"
#include "rewriter/image.h"

/* The word at `offset` in a section, which must have it. */
uint32_t litifut_image_word(const struct litifut_image *image,
			    const struct litifut_section *section, uint32_t offset);

/* Section number `index`; NULL: there is none with contents. */
const struct litifut_section *litifut_image_linked(const struct litifut_image *image,
						   uint32_t index);

/* The name of symbol `index` in a section of them, if all of it is in the file; else "". Owned by
 * the image. */
const char *litifut_dynamic_name(const struct litifut_image *image,
				 const struct litifut_section *symbols, uint32_t index);

/* Reads code for `follow` of struct cpu_linkage. */
struct litifut_code_reader litifut_image_reader(const struct litifut_image *image);

#endif
