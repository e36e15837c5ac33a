#include "postproc/paths/frames.h"

#include <stdlib.h>

#include "cpu/cpu.h"
#include "cpu/step.h"
#include "postproc/paths/instructions.h"
#include "postproc/paths/program.h"
#include "postproc/table.h"

struct finder {
	const struct post_image *image;
	const uint8_t *plain; /* contents of the file, with the code as it was */
	struct cpu_context context;
	struct post_path_frame *frames;
	bool *reached;
	size_t first, end; /* blocks of the function */
	bool changed;
};

static const uint8_t *code_at(const struct finder *finder, uint32_t start, uint32_t end)
{
	return post_path_contents(finder->image, finder->plain, start, end);
}

static void track(const struct finder *finder, uint32_t start, uint32_t end, bool thumb,
		  struct cpu_frame *frame)
{
	const enum litifut_code_state state = thumb ? LITIFUT_CODE_THUMB : LITIFUT_CODE_PLAIN;
	const uint8_t *code = code_at(finder, start, end);
	unsigned length;

	if (!code) {
		frame->known = false;
		return;
	}
	for (uint32_t at = start; at < end; at += length) {
		length = finder->image->cpu->track(&finder->context, code + (at - start), end - at,
						   state, frame);
		if (!length) {
			frame->known = false;
			return;
		}
	}
}

static bool is_likely(const struct finder *finder, const struct litifut_block *block)
{
	const uint8_t *code = code_at(finder, block->branch, block->end);
	struct cpu_step step = {0};
	unsigned conditional = 0;

	return code &&
	       finder->image->cpu->step(&finder->context, code, block->end - block->branch,
					block->branch, LITIFUT_CODE_PLAIN, &conditional, &step) &&
	       step.likely;
}

static void reach(struct finder *finder, uint32_t address, const struct cpu_frame *frame)
{
	const uint32_t number = post_image_block_start(finder->image, address & ~1u);

	if (number == POST_NONE || number < finder->first || number >= finder->end)
		return;
	struct cpu_frame *start = &finder->frames[number].start;

	if (!finder->reached[number]) {
		finder->reached[number] = true;
		*start = *frame;
		finder->changed = true;
		return;
	}
	if (start->kept && start->kept != frame->kept) {
		start->kept = 0;
		finder->changed = true;
	}
	if (start->known &&
	    (!frame->known || start->depth != frame->depth || start->saved != frame->saved)) {
		start->known = false;
		finder->changed = true;
	}
}

/* From the start of the block to its end, and to what follows it. */
static void pass_block(struct finder *finder, size_t number, struct cpu_frame *jumps, bool *jumped)
{
	const struct litifut_block *block = &finder->image->blocks[number];
	struct cpu_frame frame = finder->frames[number].start;

	const bool thumb = block->flags & LITIFUT_BLOCK_THUMB;

	frame.conditional = 0;
	frame.may_leave = false;
	track(finder, block->start, block->branch ? block->branch : block->end, thumb, &frame);
	if (frame.may_leave && block->ends != LITIFUT_ENDS_RETURN)
		frame.known = false;
	finder->frames[number].branch = frame;
	if (block->branch)
		track(finder, block->branch, block->end, thumb, &frame);
	/* the code for the branch may stand before its delay slot, or behind */
	if (frame.depth != finder->frames[number].branch.depth &&
	    block->ends != LITIFUT_ENDS_RETURN)
		finder->frames[number].branch.known = false;
	if (block->flags & LITIFUT_BLOCK_CONDITIONAL)
		reach(finder, block->end,
		      block->ends == LITIFUT_ENDS_RETURN || is_likely(finder, block)
			      ? &finder->frames[number].branch
			      : &frame);
	switch (block->ends) {
	case LITIFUT_ENDS_CALL:
		if (!frame.saved)
			frame.known = false;
		reach(finder, block->end, &frame);
		break;
	case LITIFUT_ENDS_ON:
		reach(finder, block->end, &frame);
		break;
	case LITIFUT_ENDS_BRANCH:
		reach(finder, block->target, &frame);
		break;
	case LITIFUT_ENDS_JUMP:
		if (*jumped && (jumps->depth != frame.depth || jumps->saved != frame.saved))
			frame.known = false;
		if (*jumped && !jumps->known)
			frame.known = false;
		*jumps = frame;
		*jumped = true;
		break;
	default:
		break;
	}
}

static void find_frames(struct finder *finder)
{
	const struct post_image *image = finder->image;
	const uint32_t pushed = image->cpu->pushed ? image->cpu->pushed(image->file.flags) : 0;
	struct cpu_frame jumps = {0};
	bool jumped;

	finder->reached[finder->first] = true;
	finder->frames[finder->first].start =
		(struct cpu_frame){.known = true, .depth = pushed, .saved = pushed};
	do {
		finder->changed = false;
		jumped = false;
		for (size_t i = finder->first; i < finder->end; i++)
			if (finder->reached[i])
				pass_block(finder, i, &jumps, &jumped);
		if (finder->changed || !jumped || !jumps.known)
			continue;
		/* what nothing else leads to are cases of a switch */
		for (size_t i = finder->first; i < finder->end; i++)
			if (!finder->reached[i]) {
				finder->reached[i] = true;
				finder->frames[i].start = jumps;
				finder->changed = true;
			}
	} while (finder->changed);
}

struct post_path_frame *post_path_frames(const struct post_image *image)
{
	struct finder finder = {.image = image, .context = {.big_endian = image->big_endian_code}};
	uint8_t *plain;

	if (!image->cpu->track || !image->cpu->step)
		return NULL;
	plain = path_program_plain(image);
	finder.plain = plain;
	finder.frames = post_allocate(image->block_count + 1, sizeof(*finder.frames));
	finder.reached = post_allocate(image->block_count + 1, sizeof(*finder.reached));
	for (finder.first = 0; finder.first < image->block_count; finder.first = finder.end) {
		finder.end = finder.first + 1;
		while (finder.end < image->block_count &&
		       !(image->blocks[finder.end].flags & LITIFUT_BLOCK_FUNCTION))
			finder.end++;
		find_frames(&finder);
	}
	free(finder.reached);
	free(plain);
	return finder.frames;
}
