/* The code of edges, while it is written. */
#ifndef LITIFUT_REWRITER_MIPS_EDGE_H
#define LITIFUT_REWRITER_MIPS_EDGE_H

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

static inline uint32_t litifut_mips_word_at(const struct litifut_edge_place *place,
					    uint32_t address)
{
	return litifut_get32(place->context->cpu.big_endian,
			     place->section->bytes + (address - place->section->address));
}

/* Registers that hold nothing at the address, and those of an instruction, as <cpu/mips/uses.h> has
 * them. */
uint32_t litifut_mips_dead_at(const struct litifut_edge_place *place, uint32_t address);
uint32_t litifut_mips_named_by(uint32_t word);

/* edge_bits.c. Chooses by which code the edge records bits, into `free` of it: 0 for that of
 * edge.c. Its address and what moves with it are known. For a branch that is the one at `taken`,
 * and at `entered` that which records the start of the block by a bit as well. */
void litifut_mips_find_free_for_bits(const struct litifut_edge_place *place,
				     struct litifut_edge *edge);
/* Records that the block is entered, by a code that is not 0; control goes on behind it. */
void litifut_mips_put_entered(struct litifut_mips_emitter *emitter, unsigned code);
/* All that comes before a bit is known. With `two` that of the branch is the second one, and the
 * first, which is 1, says that the block is entered. */
void litifut_mips_put_first(struct litifut_mips_emitter *emitter, unsigned code, bool two);
/* Behind that, and as much as does not use the registers of the code: the branch `word` to
 * `target`, which is 0 where control goes on behind all, or to the end of the block. `slot` is
 * executed with the branch. */
void litifut_mips_put_branch(struct litifut_mips_emitter *emitter, unsigned code, uint32_t word,
			     uint32_t slot, uint32_t target);
/* May the delay slot be executed before the test? */
bool litifut_mips_comes_first(const struct litifut_graph_block *block, uint32_t branch,
			      uint32_t slot);

/* edge_flags.c. Chooses by which code the edge sets its flags, into `free` of it. Its address and
 * what moves with it are known. */
void litifut_mips_find_free_for_flags(const struct litifut_edge_place *place,
				      struct litifut_edge *edge);
/* Sets the flag, so many bytes behind the start of all, by a code that was chosen there. Control
 * goes on at `target`, or behind it if that is 0. */
void litifut_mips_put_flag(struct litifut_mips_emitter *emitter, unsigned code, uint32_t flag,
			   uint32_t target);
/* Of an entry: goes on at the target, with `last` executed before. False: ra may hold something. */
bool litifut_mips_go_with_link(struct litifut_mips_emitter *emitter, uint32_t target,
			       uint32_t last);
/* `write_mark` and `mark_bytes` of struct litifut_arch_edges, and where in that code the part
 * begins that goes on by the word that ra leads to. */
#define LITIFUT_MIPS_MARK_BYTES 60
#define LITIFUT_MIPS_MARK_ON 24
void litifut_mips_write_mark(const struct litifut_arch_context *context, uint32_t address,
			     uint8_t *code);

#endif
