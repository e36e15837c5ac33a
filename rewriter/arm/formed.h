/* Which addresses ARM code forms, followed in the order of its addresses. */
#ifndef LITIFUT_REWRITER_ARM_FORMED_H
#define LITIFUT_REWRITER_ARM_FORMED_H

#include "rewriter/arch.h"

/* As `form_addresses` of struct litifut_arch_flow. */
void litifut_arm_form_addresses(const struct litifut_image *image,
				const struct litifut_arch_context *context,
				const struct litifut_section *section,
				const struct litifut_code_range *ranges, size_t count,
				litifut_take_formed *take, void *with);
/* add rN, pc; add rN, pc, rM; add rN, rM, pc: which register has the other operand? 16: another
 * instruction. */
unsigned litifut_arm_added_to_pc(uint32_t word, bool thumb);

#endif
