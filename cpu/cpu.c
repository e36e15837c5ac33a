#include "cpu/cpu.h"

#include "cpu/list.h"

#define DECLARE(name) extern const struct cpu cpu_##name;
#define ENTRY(name) &cpu_##name,

CPU_LIST(DECLARE)

static const struct cpu *const all[] = {CPU_LIST(ENTRY)};

const struct cpu *cpu_find(unsigned machine)
{
	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
		if (all[i]->machine == machine)
			return all[i];
	return NULL;
}

const struct cpu *cpu_number(size_t number)
{
	return number < sizeof(all) / sizeof(*all) ? all[number] : NULL;
}
