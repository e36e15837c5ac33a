/* The code of edges, while it is written. */
#ifndef LITIFUT_REWRITER_MIPS_EDGE_EMITTER_H
#define LITIFUT_REWRITER_MIPS_EDGE_EMITTER_H

#include "rewriter/edges.h"
#include "rewriter/mips/mips.h"

struct litifut_mips_emitter {
	const struct litifut_edge_place *place;
	const struct litifut_edge *edge;
	struct litifut_edge_code *code;
	uint32_t address;
	uint32_t words[LITIFUT_EDGE_BYTES_MAX / 4];
	unsigned count;
	bool failed;
};

static inline void litifut_mips_put(struct litifut_mips_emitter *emitter, uint32_t word)
{
	if (emitter->count < LITIFUT_EDGE_BYTES_MAX / 4)
		emitter->words[emitter->count++] = word;
	else
		emitter->failed = true;
}

static inline uint32_t litifut_mips_here(const struct litifut_mips_emitter *emitter)
{
	return emitter->address + 4 * emitter->count;
}

/* See struct litifut_frame_step. */
void litifut_mips_note(struct litifut_mips_emitter *emitter, unsigned stack, uint32_t saved);
/* `jal`, or `bal`, without its delay slot. */
void litifut_mips_put_link(struct litifut_mips_emitter *emitter, uint32_t target);

#endif
