#include "postproc/paths/instructions.h"

#include <stdlib.h>

#include "cpu/frame.h"
#include "postproc/table.h"

const uint8_t *post_path_contents(const struct post_image *image, const uint8_t *file,
				  uint32_t start, uint32_t end)
{
	for (size_t i = 0; i < image->segment_count; i++) {
		const struct post_segment *segment = &image->segments[i];
		const uint32_t into = start - segment->address;

		if (start >= segment->address && end >= start && into < segment->file_bytes &&
		    end - start <= segment->file_bytes - into &&
		    (uint64_t)segment->offset + into + (end - start) <= image->file.size)
			return file + segment->offset + into;
	}
	return NULL;
}

struct post_path_instruction *post_path_instructions(const struct post_image *image,
						     const uint8_t *plain,
						     const struct litifut_block *block,
						     size_t *count)
{
	const struct cpu_context context = {.big_endian = image->big_endian_code};
	const enum litifut_code_state state =
		block->flags & LITIFUT_BLOCK_THUMB ? LITIFUT_CODE_THUMB : LITIFUT_CODE_PLAIN;
	const uint8_t *code = post_path_contents(image, plain, block->start, block->end);
	struct post_path_instruction *list;
	struct cpu_frame frame = {0}; /* it says how long an IT block is */
	unsigned length;

	*count = 0;
	if (!code || !image->cpu->track)
		return NULL;
	list = post_allocate((block->end - block->start) / 2 + 1, sizeof(*list));
	for (uint32_t at = block->start; at < block->end; at += length) {
		list[(*count)++] = (struct post_path_instruction){
			.address = at,
			.in_it_block = frame.conditional > 0,
			.in_slot = block->branch && at > block->branch,
		};
		length = image->cpu->track(&context, code + (at - block->start), block->end - at,
					   state, &frame);
		if (!length) {
			free(list);
			*count = 0;
			return NULL;
		}
	}
	return list;
}
