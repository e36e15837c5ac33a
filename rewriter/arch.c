#include "rewriter/arch.h"

#include "cpu/list.h"

#define DECLARE(name) extern const struct litifut_arch litifut_arch_##name;
#define ENTRY(name) &litifut_arch_##name,

CPU_LIST(DECLARE)

static const struct litifut_arch *const all[] = {CPU_LIST(ENTRY)};

const struct litifut_arch *litifut_arch_find(unsigned machine)
{
	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
		if (all[i]->cpu->machine == machine)
			return all[i];
	return NULL;
}

const struct litifut_arch *litifut_arch_number(size_t number)
{
	return number < sizeof(all) / sizeof(*all) ? all[number] : NULL;
}
