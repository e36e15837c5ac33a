/* LITIFUT_INCLUDE=NAME+3: a function, and those that calls from it lead to, up to three calls deep.
 */
#ifndef LITIFUT_REWRITER_DOWNWARD_H
#define LITIFUT_REWRITER_DOWNWARD_H

#include "rewriter/arch.h"
#include "rewriter/rewriter.h"

/* Finds what such words of options->include_functions include besides, for litifut_is_excluded().
 * Followed are calls whose callee the code or the list of symbols of the image shows: direct ones
 * and tail calls, through veneers and PLT entries that lead back into the image, and on MIPS
 * through the GOT. What the compiler has split off a function, NAME.cold, is a part of it. */
enum litifut_status litifut_downward_find(struct litifut_image *image,
					  const struct litifut_arch *arch,
					  const struct litifut_arch_context *context,
					  const struct litifut_rewrite_options *options,
					  struct litifut_error *error);

#endif
