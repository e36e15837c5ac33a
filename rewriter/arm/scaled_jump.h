/* Jumps to where a label is and so many times a number of bytes behind it. */
#ifndef LITIFUT_REWRITER_ARM_SCALED_JUMP_H
#define LITIFUT_REWRITER_ARM_SCALED_JUMP_H

#include <stdint.h>

#include "rewriter/arm/arm.h"
#include "rewriter/graph.h"

enum litifut_arm_scaled_form {
	LITIFUT_ARM_SCALED_NOT,     /* it is another jump */
	LITIFUT_ARM_SCALED_UNKNOWN, /* it may lead anywhere */
	LITIFUT_ARM_SCALED_KNOWN
};

struct litifut_arm_scaled {
	uint32_t base; /* where 0 leads */
	uint32_t step;
	int32_t first; /* from this number to this one */
	int32_t last;
	unsigned reg; /* T32: that holds where it leads */
	/* Where a number is made of the zeros of two others: address of the instruction that counts
	 * the first ones; 0: it is not. */
	uint32_t own;
};

/* Is the place between that instruction and the jump, in the block of the jump? The jump would lead
 * there, into its own calculation, if the lower of the two numbers were 0: nothing is divided by 0.
 */
static inline bool litifut_arm_scaled_is_own(const struct litifut_arm_scaled *jump,
					     const struct litifut_graph_block *block,
					     uint32_t address)
{
	return jump->own && address >= jump->own && address < block->block.branch;
}

/* Where does the jump at the end of block `number` lead? All places in question are starts of
 * blocks of the same function, or the jump's own. */
enum litifut_arm_scaled_form litifut_arm_scaled_jump(const struct litifut_image *image,
						     const struct litifut_graph *graph,
						     size_t number,
						     struct litifut_arm_scaled *jump);

/* Is the number in the register at most *most at the end of block `number`, as code before it has
 * compared it? Or is it the copy of one that is? */
bool litifut_arm_is_at_most(const struct litifut_image *image, const struct litifut_graph *graph,
			    size_t number, unsigned reg, uint32_t *most);

/* Adds to `targets` where such jumps in `range`, which is code, may lead, and rather more. */
void litifut_arm_add_scaled(const struct litifut_image *image,
			    const struct litifut_section *section,
			    const struct litifut_code_range *range,
			    struct litifut_targets *targets);

#endif
