#include "paths/frames.h"

#include "cpu/step.h"

struct finder {
	const struct path_frames_source *source;
	struct path_frame *frames;
	bool *reached;
	size_t first, end; /* blocks of the function */
	bool changed;
};

static const struct litifut_block *block_of(const struct finder *finder, size_t number)
{
	return finder->source->block(finder->source->with, number);
}

void path_frames_track(const struct path_frames_source *source, uint32_t start, uint32_t end,
		       bool thumb, struct cpu_frame *frame)
{
	const enum litifut_code_state state = thumb ? LITIFUT_CODE_THUMB : LITIFUT_CODE_PLAIN;
	const uint8_t *code = start < end ? source->code(source->with, start, end) : NULL;
	unsigned length;

	if (start < end && !code) {
		frame->known = false;
		return;
	}
	for (uint32_t at = start; at < end; at += length) {
		length = source->cpu->track(&source->context, code + (at - start), end - at, state,
					    frame);
		if (!length) {
			frame->known = false;
			return;
		}
	}
}

static bool is_likely(const struct path_frames_source *source, const struct litifut_block *block)
{
	const uint8_t *code = source->code(source->with, block->branch, block->end);
	struct cpu_step step = {0};
	unsigned conditional = 0;

	return code &&
	       source->cpu->step(&source->context, code, block->end - block->branch, block->branch,
				 LITIFUT_CODE_PLAIN, &conditional, &step) &&
	       step.likely;
}

static void reach(struct finder *finder, uint32_t address, const struct cpu_frame *frame)
{
	size_t low = finder->first, high = finder->end;
	struct cpu_frame *start;

	address &= ~1u;
	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (block_of(finder, middle)->start < address)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == finder->end || block_of(finder, low)->start != address)
		return;
	start = &finder->frames[low].start;
	if (!finder->reached[low]) {
		finder->reached[low] = true;
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
	const struct litifut_block *block = block_of(finder, number);
	struct cpu_frame frame = finder->frames[number].start;
	const bool thumb = block->flags & LITIFUT_BLOCK_THUMB;

	frame.conditional = 0;
	frame.may_leave = false;
	path_frames_track(finder->source, block->start, block->branch ? block->branch : block->end,
			  thumb, &frame);
	if (frame.may_leave && block->ends != LITIFUT_ENDS_RETURN)
		frame.known = false;
	finder->frames[number].branch = frame;
	if (block->branch)
		path_frames_track(finder->source, block->branch, block->end, thumb, &frame);
	/* the code for the branch may stand before its delay slot, or behind */
	if (frame.depth != finder->frames[number].branch.depth &&
	    block->ends != LITIFUT_ENDS_RETURN)
		finder->frames[number].branch.known = false;
	if (block->flags & LITIFUT_BLOCK_CONDITIONAL)
		reach(finder, block->end,
		      block->ends == LITIFUT_ENDS_RETURN || is_likely(finder->source, block)
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

void path_frames_find(const struct path_frames_source *source, size_t first, size_t end,
		      struct path_frame *frames, bool *reached)
{
	struct finder finder = {
		.source = source, .frames = frames, .reached = reached, .first = first, .end = end};
	struct cpu_frame jumps = {0};
	bool jumped;

	reached[first] = true;
	frames[first].start =
		(struct cpu_frame){.known = true, .depth = source->pushed, .saved = source->pushed};
	do {
		finder.changed = false;
		jumped = false;
		for (size_t i = first; i < end; i++)
			if (reached[i])
				pass_block(&finder, i, &jumps, &jumped);
		if (finder.changed || !jumped || !jumps.known)
			continue;
		/* what nothing else leads to are cases of a switch */
		for (size_t i = first; i < end; i++)
			if (!reached[i]) {
				reached[i] = true;
				frames[i].start = jumps;
				finder.changed = true;
			}
	} while (finder.changed);
}
