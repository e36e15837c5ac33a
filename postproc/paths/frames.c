#include "postproc/paths/frames.h"

#include <stdlib.h>

#include "postproc/paths/instructions.h"
#include "postproc/paths/program.h"
#include "postproc/table.h"

/* The image, and the contents of its file with the code as it was. */
struct plain_image {
	const struct post_image *image;
	const uint8_t *plain;
};

static const struct litifut_block *block_at(const void *context, size_t number)
{
	const struct plain_image *of = context;

	return &of->image->blocks[number];
}

static const uint8_t *code_at(const void *context, uint32_t start, uint32_t end)
{
	const struct plain_image *of = context;

	return post_path_contents(of->image, of->plain, start, end);
}

struct path_frame *post_path_frames(const struct post_image *image)
{
	uint8_t *plain;
	struct path_frame *frames;
	bool *reached;

	if (!image->cpu->track || !image->cpu->step)
		return NULL;
	plain = path_program_plain(image);
	frames = post_allocate(image->block_count + 1, sizeof(*frames));
	reached = post_allocate(image->block_count + 1, sizeof(*reached));

	const struct plain_image of = {image, plain};
	const struct path_frames_source source = {
		.cpu = image->cpu,
		.context = {.big_endian = image->big_endian_code},
		.pushed = image->cpu->pushed ? image->cpu->pushed(image->file.flags) : 0,
		.block = block_at,
		.code = code_at,
		.with = &of};

	for (size_t first = 0, end; first < image->block_count; first = end) {
		end = first + 1;
		while (end < image->block_count &&
		       !(image->blocks[end].flags & LITIFUT_BLOCK_FUNCTION))
			end++;
		path_frames_find(&source, first, end, frames, reached);
	}
	free(reached);
	free(plain);
	return frames;
}
