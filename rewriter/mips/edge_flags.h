/* Edges that set flags. */
#ifndef LITIFUT_REWRITER_MIPS_EDGE_FLAGS_H
#define LITIFUT_REWRITER_MIPS_EDGE_FLAGS_H

#include "rewriter/mips/edge_emitter.h"

/* Chooses by which code the edge sets its flags, into `free` of it. Its address and
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
