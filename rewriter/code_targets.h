/* The places of an image that control can come to other than from the
 * instruction before: nothing there may be moved or joined with what stands
 * before it. */
#ifndef LITIFUT_REWRITER_CODE_TARGETS_H
#define LITIFUT_REWRITER_CODE_TARGETS_H

#include "rewriter/arch.h"
#include "rewriter/image.h"
#include "rewriter/targets.h"

/* Creates `targets` with what symbols and data of `image` tell. Release with
 * litifut_targets_release(), on failure as well. */
enum litifut_status litifut_targets_of_data(const struct litifut_image *image,
					    const struct litifut_arch_context *context,
					    struct litifut_targets *targets,
					    struct litifut_error *error);

/* The same with what the code leads to: branches, table branches, landing pads of exceptions. */
enum litifut_status litifut_targets_of_code(const struct litifut_image *image,
					    const struct litifut_arch *arch,
					    const struct litifut_arch_context *context,
					    struct litifut_targets *targets,
					    struct litifut_error *error);

/* The same with the addresses that code forms (formed.h). */
enum litifut_status litifut_targets_of_all(const struct litifut_image *image,
					   const struct litifut_arch *arch,
					   const struct litifut_arch_context *context,
					   struct litifut_targets *targets,
					   struct litifut_error *error);

#endif
