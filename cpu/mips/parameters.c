/* System V ABI, MIPS supplement (o32), "Parameter Passing": each value has a place in a row of
 * words, of which the first four are in $a0 to $a3. A float at the front is in a floating-point
 * register instead, and its words are left out. */
#include "cpu/mips/mips.h"

size_t litifut_mips_place_parameters(const struct cpu_signature *signature)
{
	const struct cpu_value *result = &signature->result;
	/* the address of a structure to be returned is the first one */
	unsigned next = result->by_reference || result->kind == CPU_VALUE_STRUCT ||
			result->kind == CPU_VALUE_FLOATS;

	for (size_t i = 0; i < signature->count; i++)
		signature->parameters[i].word = cpu_take_words(&signature->parameters[i], &next);
	return signature->count;
}
