/* Which addresses ARM code makes, for LITIFUT_MODE=paths: a function may be entered by these from
 * code that can't be followed. */
#ifndef LITIFUT_REWRITER_ARM_ADDRESSES_H
#define LITIFUT_REWRITER_ARM_ADDRESSES_H

#include "rewriter/edges.h"

/* As `add_addresses` of struct litifut_arch_edges. */
void litifut_arm_add_addresses(const struct litifut_image *image,
			       const struct litifut_arch_context *context,
			       const struct litifut_section *section,
			       const struct litifut_code_range *ranges, size_t count,
			       const struct litifut_called *called,
			       struct litifut_targets *targets);
/* As `may_call`, but for `call`: all calls of the function may be such. */
bool litifut_arm_may_call(const struct litifut_image *image,
			  const struct litifut_arch_context *context,
			  const struct litifut_section *section, uint32_t start, uint32_t end,
			  uint32_t call, const char *const *names,
			  const struct litifut_spawners *places);

#endif
