/* What an instruction does to the registers and to the stack, as far as it shows
 * jumps within a function from tail calls. */
#ifndef LITIFUT_CPU_ARM_EFFECT_H
#define LITIFUT_CPU_ARM_EFFECT_H

#include <stdbool.h>
#include <stdint.h>

#define LITIFUT_ARM_NO_REGISTER 16

enum litifut_arm_stack_effect {
	LITIFUT_ARM_STACK_STAYS = 0,
	LITIFUT_ARM_STACK_MOVES,  /* by `stack_change` */
	LITIFUT_ARM_STACK_POPPED, /* the same, by registers loaded from it */
	LITIFUT_ARM_STACK_FRAME,  /* to where it was for the caller: taken from the stack itself */
	LITIFUT_ARM_STACK_LOST    /* to somewhere */
};

struct litifut_arm_effect {
	uint32_t written; /* bit n: rN is changed */
	/* The only register written if it gets the sum or the difference of two others,
	 * as the target of a switch does, and those two. */
	bool adds;
	unsigned operands[2]; /* 15: the pc */
	bool adds_number;     /* the only one written gets the first of these and `value` */
	/* Copies, also with the bit of a T32 address set, and loads: the register that the only
	 * one written comes from; else none. */
	unsigned copied;
	unsigned base;
	/* The only register written gets this: a word loaded from `value` or, without
	 * loads_literal, the number itself. */
	bool loads_literal;
	bool is_constant;
	bool is_upper_half; /* movt */
	bool forms_address; /* it is an address near by */
	uint32_t value;
	bool restores_lr; /* from the stack */
	enum litifut_arm_stack_effect stack;
	int32_t stack_change;
};

/* `word` as in struct litifut_instruction, standing at `address`. Branches that set
 * no register have none of these effects, calls those that they have by themselves. */
struct litifut_arm_effect litifut_arm_thumb_effect(uint32_t word, unsigned length,
						   uint32_t address);
struct litifut_arm_effect litifut_arm_plain_effect(uint32_t word, uint32_t address);

#endif
