/* Procedure Call Standard for the Arm Architecture (AAPCS32), "Parameter Passing", and its variant
 * for VFP. Words 0 to 3 are r0 to r3, the others stand on the stack: a value that needs more
 * registers than there are is split, so the words of all values follow each other. */
#include "cpu/arm/arm.h"

#include <elf.h>

#define VFP_REGISTERS 16u /* of 4 bytes, for arguments */

size_t litifut_arm_place_parameters(const struct cpu_signature *signature)
{
	/* variadic functions take floats as others do in the base standard */
	const bool vfp = !signature->variadic && signature->flags & EF_ARM_ABI_FLOAT_HARD;
	const struct cpu_value *result = &signature->result;
	const bool in_memory = result->by_reference ||
			       (result->bytes > 4 && (result->kind == CPU_VALUE_STRUCT ||
						      (result->kind == CPU_VALUE_FLOATS && !vfp)));
	unsigned next = in_memory; /* its address is the first one */
	unsigned used = 0;

	for (size_t i = 0; i < signature->count; i++) {
		struct cpu_value *value = &signature->parameters[i];

		if (vfp && (value->kind == CPU_VALUE_FLOAT || value->kind == CPU_VALUE_FLOATS)) {
			value->word = next;
			used = (value->alignment > 4 ? (used + 1) & ~1u : used) + value->bytes / 4;
			/* from here on they stand on the stack, before registers are full */
			if (used > VFP_REGISTERS)
				return i;
			continue;
		}
		value->word = cpu_take_words(value, &next);
	}
	return signature->count;
}
