/* The instructions of a block, as they were before its branches were patched. */
#ifndef LITIFUT_POSTPROC_PATHS_INSTRUCTIONS_H
#define LITIFUT_POSTPROC_PATHS_INSTRUCTIONS_H

#include "postproc/sources/image.h"

struct post_path_instruction {
	uint32_t address; /* link-time */
	bool in_it_block;
	bool in_slot; /* of the branch that ends the block */
};

/* `plain` is what path_program_plain() gives. Malloc'ed, NULL where code can't be decoded. */
struct post_path_instruction *post_path_instructions(const struct post_image *image,
						     const uint8_t *plain,
						     const struct litifut_block *block,
						     size_t *count);

/* The contents at link-time addresses [start, end) in the contents of the whole file, or NULL. */
const uint8_t *post_path_contents(const struct post_image *image, const uint8_t *file,
				  uint32_t start, uint32_t end);

#endif
