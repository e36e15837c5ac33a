/* Labels to which a program jumps by an address that its code forms, as control comes to them
 * behind __builtin_setjmp(), by a goto out of a nested function, and by a computed goto whose table
 * holds differences of addresses: no data and no branch names them. */
#ifndef LITIFUT_REWRITER_FORMED_H
#define LITIFUT_REWRITER_FORMED_H

#include "rewriter/arch.h"
#include "rewriter/image.h"
#include "rewriter/targets.h"

/* Adds to `targets` the addresses in the midst of functions that the code of `image` forms, and
 * those that a table with distances from one of them has, if one function forms the address of
 * both. */
enum litifut_status litifut_formed_add(const struct litifut_image *image,
				       const struct litifut_arch *arch,
				       const struct litifut_arch_context *context,
				       struct litifut_targets *targets,
				       struct litifut_error *error);

/* `alone`, if it is not NULL, gets those that are in no such table: code of other functions, too,
 * may lead there. `labels` gets all but those to which a jump by a number leads that add_computed()
 * of the CPU has: none of these need be a label. */
enum litifut_status
litifut_formed_labels(const struct litifut_image *image, const struct litifut_arch *arch,
		      const struct litifut_arch_context *context, struct litifut_targets *labels,
		      struct litifut_targets *alone, struct litifut_error *error);

#endif
