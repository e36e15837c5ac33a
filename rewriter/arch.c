/* The only place that knows every CPU. */
#include "rewriter/arch.h"

static const struct litifut_arch *const all[] = {&litifut_arch_arm, &litifut_arch_mips};

const struct litifut_arch *litifut_arch_find(unsigned machine)
{
	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
		if (all[i]->machine == machine)
			return all[i];
	return NULL;
}

const struct litifut_arch *litifut_arch_number(size_t number)
{
	return number < sizeof(all) / sizeof(*all) ? all[number] : NULL;
}
