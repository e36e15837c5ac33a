/* The forms of MIPS code at an edge. What is judged and what is written agree on each, because both
 * ask here. */
#ifndef LITIFUT_REWRITER_MIPS_EDGE_FORMS_H
#define LITIFUT_REWRITER_MIPS_EDGE_FORMS_H

#include "rewriter/edges.h"
#include "rewriter/mips/mips.h"

#define LITIFUT_MIPS_NOP 0u
#define LITIFUT_MIPS_JR_AT 0x00200008u

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

/* Does the instruction read $at, or does it read or write it? Judged by the fields of the word, so
 * it may be true too often. */
bool litifut_mips_reads_at(uint32_t word);
bool litifut_mips_names_at(uint32_t word);

/* May the instruction name the register, in whatever field? */
bool litifut_mips_may_name(uint32_t word, unsigned reg);

/* Is the value of $at at the start of this block dead? It does not live across calls. */
bool litifut_mips_at_is_free(const struct litifut_edge_place *place, uint32_t address);

/* Does a branch or a jump lead there? */
bool litifut_mips_is_target(const struct litifut_edge_place *place, uint32_t address);

/* Does control come to the middle of these bytes? */
bool litifut_mips_edge_has_target(const struct litifut_edge_place *place, uint32_t start,
				  uint32_t end);

/* Is the instruction a delay slot, which is executed with what stands before it, though it may look
 * like a label? */
bool litifut_mips_is_slot(const struct litifut_edge_place *place, uint32_t address);

/* May the delay slot be executed before the test? */
bool litifut_mips_comes_first(const struct litifut_graph_block *block, uint32_t branch,
			      uint32_t slot);

#endif
