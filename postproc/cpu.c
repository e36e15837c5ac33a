/* The lookup table of CPUs. A new one is a folder beside arm/ and mips/ and a
 * line here. */
#include "postproc/cpu.h"

static const struct post_cpu *const cpus[] = {&post_cpu_arm, &post_cpu_mips};

const struct post_cpu *post_cpu_find(unsigned machine)
{
	for (size_t i = 0; i < sizeof(cpus) / sizeof(*cpus); i++) {
		if (cpus[i]->machine == machine)
			return cpus[i];
	}
	return NULL;
}
