/* Edges that record bits by code of their own, where registers hold nothing. */
#ifndef LITIFUT_REWRITER_MIPS_EDGE_BITS_H
#define LITIFUT_REWRITER_MIPS_EDGE_BITS_H

#include "rewriter/mips/edge_emitter.h"

/* Chooses by which code the edge records bits, into `free` of it: 0 for that of
 * edge_write.c. Its address and what moves with it are known. For a branch that is the one at
 * `taken`, and at `entered` that which records the start of the block by a bit as well. */
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

#endif
