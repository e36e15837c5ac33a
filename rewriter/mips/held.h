/* What a register holds before an instruction, on all ways that lead there. */
#ifndef LITIFUT_REWRITER_MIPS_HELD_H
#define LITIFUT_REWRITER_MIPS_HELD_H

#include "rewriter/arch.h"
#include "rewriter/image.h"

/* An entry of the GOT, and what is added to what it holds. */
struct litifut_mips_held {
	bool found;      /* in the code above the call, whatever other ways lead there */
	bool certain;    /* on all ways */
	bool by_pointer; /* loaded by the register that holds the global pointer, each time */
	uint32_t entry;  /* link-time address */
	uint32_t offset;
};

/* What register `number` holds before the instruction at call->address. `facts` are those of its
 * function, which has a global pointer. */
struct litifut_mips_held litifut_mips_held(const struct litifut_arch_context *context,
					   const struct litifut_cramped_call *call,
					   const struct litifut_function_facts *facts,
					   const struct litifut_arrivals *arrivals,
					   unsigned number);

/* Where branches lead from one function into another, but for calls: code of a function that the
 * compiler has put elsewhere. */
void litifut_mips_add_elsewhere(const struct litifut_image *image,
				const struct litifut_arch_context *context,
				struct litifut_targets *elsewhere);

/* Sets branches and branch_count of `facts`, which has the global pointer of the function at
 * [start, end). */
void litifut_mips_find_branches(const struct litifut_image *image,
				const struct litifut_arch_context *context,
				const struct litifut_section *section, uint32_t start, uint32_t end,
				struct litifut_function_facts *facts);

#endif
