/* A32 instructions that are done elsewhere. */
#ifndef LITIFUT_REWRITER_ARM_PLAIN_H
#define LITIFUT_REWRITER_ARM_PLAIN_H

#include <stdbool.h>
#include <stdint.h>

/* How an instruction is done elsewhere. */
enum litifut_arm_plain_treatment {
	LITIFUT_ARM_PLAIN_STUCK,
	LITIFUT_ARM_PLAIN_MOVES,
	LITIFUT_ARM_PLAIN_ENDS,          /* the same, and nothing follows */
	LITIFUT_ARM_PLAIN_BRANCHES,      /* b, with or without a condition */
	LITIFUT_ARM_PLAIN_LOADS_LITERAL, /* ldr rN, [pc, #n] */
	LITIFUT_ARM_PLAIN_LOADS_PAIR,    /* ldrd rN, [pc, #n] */
	LITIFUT_ARM_PLAIN_LOADS_VECTOR,  /* vldr sN or dN, [pc, #n] */
	LITIFUT_ARM_PLAIN_MAKES_ADDRESS, /* add rN, pc, #n */
	LITIFUT_ARM_PLAIN_USES_PC        /* add rN, pc, rM; ldr rN, [pc, rM] */
};

enum litifut_arm_plain_treatment litifut_arm_plain_treatment(uint32_t word, uint32_t address);

/* The address that the instruction at `address` loads from, or makes; 0: it does neither. */
uint32_t litifut_arm_plain_operand(uint32_t word, uint32_t address);

/* Writes a branch with this condition (bits 28 to 31) at `address`. False: out of reach. */
bool litifut_arm_put_plain_branch(uint32_t condition, uint32_t address, uint32_t target,
				  uint8_t *code);

/* Writes what the instruction `word` of `from` did, and the way on behind it, at *used bytes of
 * the code at `address`; where `lr_is_free` LITIFUT_ARM_PLAIN_USES_PC changes lr. False: something
 * is out of reach. */
bool litifut_arm_move_plain(uint32_t word, uint32_t from, uint32_t address, uint8_t *code,
			    unsigned *used, bool lr_is_free);

#endif
