/* One decoded instruction, as far as a call tracer cares. The decoders of all
 * CPUs produce it from bytes and an address alone. */
#ifndef LITIFUT_CPU_INSTRUCTION_H
#define LITIFUT_CPU_INSTRUCTION_H

#include <stdbool.h>
#include <stdint.h>

/* How code is encoded in a range of addresses. */
enum litifut_code_state {
	LITIFUT_CODE_DATA = 0,     /* no instructions */
	LITIFUT_CODE_PLAIN = 1,    /* A32, MIPS32 */
	LITIFUT_CODE_THUMB = 2,    /* T32 */
	LITIFUT_CODE_MIPS16 = 3,   /* recognised, not rewritten */
	LITIFUT_CODE_MICROMIPS = 4 /* the same */
};

/* How many instructions before a call the walker remembers. */
#define LITIFUT_REMEMBERED 5

enum litifut_instruction_class {
	LITIFUT_CLASS_OTHER = 0,
	LITIFUT_CLASS_CALL_DIRECT,     /* sets the link register, target known */
	LITIFUT_CLASS_CALL_INDIRECT,   /* sets the link register, target in `target_register` */
	LITIFUT_CLASS_BRANCH_DIRECT,   /* no link, target known; conditional or not */
	LITIFUT_CLASS_BRANCH_INDIRECT, /* no link, target in `target_register` */
	LITIFUT_CLASS_FOREIGN_CALL,    /* a call that this back end does not rewrite (jalx) */
	/* No register holds the target: it is loaded from memory or calculated
	 * by the instruction. With and without link. */
	LITIFUT_CLASS_CALL_COMPUTED,
	LITIFUT_CLASS_BRANCH_COMPUTED
};

/* Such a call: is its link register set by an instruction before it? */
enum litifut_linked {
	LITIFUT_LINKED_NOT = 0,
	LITIFUT_LINKED_SAME,  /* a call instruction in its place would set it to the same */
	LITIFUT_LINKED_BEFORE /* it may hold something else, and must be kept */
};

struct litifut_instruction {
	uint32_t word;   /* as stored in the instruction DB, see litifut_db_entry */
	uint32_t target; /* direct: address, bit 0 set when it is Thumb code */
	/* Not 0: the address in code that it leaves in the link register (`mov lr, pc`),
	 * so that a branch which ends there is a call. */
	uint32_t link;
	/* Large programs have a million of these. */
	enum litifut_instruction_class class : 8;
	enum litifut_linked linked : 8;
	uint8_t target_register; /* indirect: number of the register */
	uint8_t link_register;   /* MIPS jalr can link into any register; 14 on ARM */
	uint8_t length;          /* bytes: 2 or 4 */
	bool conditional : 1;
	bool thumb : 1;   /* of the code that the instruction stands in */
	bool inexact : 1; /* a call or branch that the tracer can't do in the CPU's place */
};

/* Does the instruction name the place that it goes to? */
static inline bool litifut_has_target(const struct litifut_instruction *instruction)
{
	return instruction->class == LITIFUT_CLASS_BRANCH_DIRECT ||
	       instruction->class == LITIFUT_CLASS_CALL_DIRECT;
}

#endif
