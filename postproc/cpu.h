/* What the post-processor must know of a CPU: how a return address names its
 * call site, and where the little pieces of code lead that a linker makes. */
#ifndef LITIFUT_POSTPROC_CPU_H
#define LITIFUT_POSTPROC_CPU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <litifut/module_format.h>

/* Reads the code of an image. Gives false outside of it. Literals are data, and
 * ARM BE8 has big-endian data among little-endian code. */
struct post_code {
	bool (*literal)(const void *context, uint32_t address, uint32_t *value);
	bool (*word)(const void *context, uint32_t address, uint32_t *value);
	bool (*halfword)(const void *context, uint32_t address, uint16_t *value);
	const void *context;
};

enum post_lead_kind {
	POST_LEADS_NOWHERE, /* not code of a kind that the linker makes */
	POST_LEADS_TO_CODE, /* `address` is the function */
	POST_LEADS_TO_SLOT  /* `address` is the word that holds the function's address */
};

struct post_lead {
	enum post_lead_kind kind;
	uint32_t address; /* code: with bit 0 set for a compressed instruction set */
	uint32_t length;  /* bytes of the piece of code, literals included */
};

struct post_cpu {
	const char *name;
	unsigned machine; /* e_machine */

	/* The address of the call instruction that leaves `return_address` (as
	 * the link register holds it) behind, for code without a site list. */
	uint32_t (*site_before)(uint32_t return_address);

	/* Follows one PLT entry, veneer or lazy stub at `address` (bit 0 set:
	 * Thumb, MIPS16). Any other code gives POST_LEADS_NOWHERE, or, when it
	 * happens to look like a veneer, where it branches. */
	struct post_lead (*follow)(const struct post_code *code, uint32_t address);

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
