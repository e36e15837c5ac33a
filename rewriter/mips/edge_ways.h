/* Ways to the code of edges, and around its records. */
#ifndef LITIFUT_REWRITER_MIPS_EDGE_WAYS_H
#define LITIFUT_REWRITER_MIPS_EDGE_WAYS_H

#include "rewriter/edges.h"

/* As `can_step`, `write_step`, `lead`, `write_way` and `holds` of struct litifut_arch_edges. */
bool litifut_mips_can_step(const struct litifut_edge_place *place, const struct litifut_edge *edge);
uint32_t litifut_mips_write_edge_step(const struct litifut_arch_context *context,
				      const struct litifut_exit_ways *ways, uint32_t address,
				      uint32_t target, uint8_t *code);
bool litifut_mips_lead_edge(const struct litifut_edge_place *place, uint8_t *code);
unsigned litifut_mips_write_way(const struct litifut_edge_place *place,
				const struct litifut_edge *edge, uint32_t address, bool by_register,
				uint8_t *code);
bool litifut_mips_holds_start(const struct litifut_edge_place *place, uint32_t address);

#endif
