/* Code that stands in no function, such as the error path that hand-written system calls have
 * before their symbol. It belongs to the function that branches to it. */
#ifndef LITIFUT_REWRITER_GAPS_H
#define LITIFUT_REWRITER_GAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rewriter/arch.h"
#include "rewriter/image.h"

struct litifut_gap {
	uint32_t start;   /* where the branch leads, bit 0 clear */
	uint32_t owner;   /* the function that branches there: its number in the image's symbols */
	uint16_t section; /* number */
	bool thumb;
};

struct litifut_gaps {
	struct litifut_gap *items;
	size_t count;
	size_t capacity;
};

/* Adds the place that `branch`, a direct branch in `owner`, leads to if no function contains
 * it. False: there is no memory. */
bool litifut_gaps_add(struct litifut_gaps *gaps, const struct litifut_image *image,
		      const struct litifut_symbol *owner, const struct litifut_instruction *branch);

/* Makes room for the names of `count` pieces of code behind the image's symbols. */
bool litifut_gaps_reserve(struct litifut_image *image, size_t count);

/* Names the code from gap->start to behind the first jump that is always taken, but not
 * beyond `end`: a symbol with the name of its owner, number `number` behind the last of the
 * image, where only a reader that has its number finds it. */
const struct litifut_symbol *litifut_gaps_name(struct litifut_image *image,
					       const struct litifut_arch *arch,
					       const struct litifut_arch_context *context,
					       const struct litifut_gap *gap, uint32_t end,
					       size_t number);

void litifut_gaps_release(struct litifut_gaps *gaps);

#endif
