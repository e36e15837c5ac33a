/* The parameters of functions, as DWARF has them: names, types, and which words of a call hold
 * them. For C and C++. */
#ifndef LITIFUT_DWARF_FUNCTIONS_H
#define LITIFUT_DWARF_FUNCTIONS_H

#include <litifut/arguments.h>
#include <stdbool.h>
#include <stdint.h>

struct cpu;
struct dwarf_functions;

struct dwarf_parameter {
	const char *name; /* lives as long as the functions; NULL: a declaration may have none */
	uint8_t word;     /* number of the first one that it takes */
	uint8_t words;
	uint8_t shown; /* enum litifut_argument_type of the first one */
};

/* Those of a function that are certain: after one that is not understood there are no more. Floats
 * are left out. */
struct dwarf_parameters {
	struct dwarf_parameter items[LITIFUT_ARGUMENT_LAST + 1];
	unsigned count;
	unsigned result; /* enum litifut_argument_type of what it returns; 0: nothing, or a value
			    that is not in one word */
};

/* Lists the functions of a file. `dwarf` is libdw's handle, which is not owned and lives longer;
 * `flags` are the e_flags of the file. NULL: no memory, or a CPU that has no parameters. */
struct dwarf_functions *dwarf_functions_read(void *dwarf, const struct cpu *cpu, unsigned flags);
/* The same of a file that libelf has open as `elf`, which lives longer. */
struct dwarf_functions *dwarf_functions_open(void *elf, const struct cpu *cpu, unsigned flags);
void dwarf_functions_release(struct dwarf_functions *functions);

/* Of the function at a link-time address, bit 0 clear (0: not known), or else of the one that has
 * this name in the symbol table, as it is defined or declared. False: there is none. A compiler's
 * variant of a function (name.isra.0) has none, since it may take other parameters. */
bool dwarf_functions_parameters(const struct dwarf_functions *functions, uint32_t address,
				const char *name, struct dwarf_parameters *parameters);

#endif
