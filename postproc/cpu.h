/* What the post-processor must know of a CPU: how a return address names its
 * call site. */
#ifndef LITIFUT_POSTPROC_CPU_H
#define LITIFUT_POSTPROC_CPU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <litifut/module_format.h>

#include "common/linkage.h"

struct post_cpu {
	const char *name;
	unsigned machine; /* e_machine */

	/* The address of the call instruction that leaves `return_address` (as
	 * the link register holds it) behind, for code without a site list. */
	uint32_t (*site_before)(uint32_t return_address);

	/* See common/linkage.h. */
	struct litifut_lead (*follow)(const struct litifut_code_reader *code, uint32_t address);

	/* The call site that an entry of the instruction DB stands for. Of a tail
	 * call the DB does not know the place: its address is 0. Kind 0: no call. */
	struct litifut_site (*site_of_entry)(struct litifut_db_entry entry);

	/* In e_flags of a big-endian file: its code is little-endian; 0: never. */
	uint32_t byte_invariant_flag;

	/* Types of the relocations of a PLT's slot. */
	unsigned jump_slot;
	unsigned global_data;
	unsigned indirect_function; /* IRELATIVE; 0: none */
};

/* NULL when there is no such CPU here. */
const struct post_cpu *post_cpu_find(unsigned machine);

extern const struct post_cpu post_cpu_arm;
extern const struct post_cpu post_cpu_mips;

#endif
