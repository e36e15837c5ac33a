/* Where the return address of a function is at each of its blocks, from what the instructions
 * before do to the stack pointer. The rewriter and the post-processor find it from the same blocks.
 */
#ifndef LITIFUT_PATHS_FRAMES_H
#define LITIFUT_PATHS_FRAMES_H

#include <litifut/module_format.h>
#include <stddef.h>

#include "cpu/cpu.h"
#include "cpu/frame.h"

struct path_frame {
	struct cpu_frame start;  /* of the block; not known of one to which no way was found */
	struct cpu_frame branch; /* before the branch that ends it, and its delay slot */
};

/* Where the blocks are, in ascending order, and their code. */
struct path_frames_source {
	const struct cpu *cpu; /* which has track() and step() */
	struct cpu_context context;
	uint32_t pushed; /* bytes of the return address that a call pushes; 0: none */
	const struct litifut_block *(*block)(const void *context, size_t number);
	/* The bytes as they were linked, or NULL. */
	const uint8_t *(*code)(const void *context, uint32_t start, uint32_t end);
	const void *with; /* their first argument */
};

/* Fills `frames`, which are zeros, for the blocks from `first` to before `end`, which are those of
 * a function; `reached`, false for each, is used meanwhile. Both begin with block number 0. */
void path_frames_find(const struct path_frames_source *source, size_t first, size_t end,
		      struct path_frame *frames, bool *reached);

/* What the code from `start` to before `end` does to the frame. */
void path_frames_track(const struct path_frames_source *source, uint32_t start, uint32_t end,
		       bool thumb, struct cpu_frame *frame);

#endif
