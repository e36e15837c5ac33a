/* Where control goes after one instruction: the control-flow graph is made of such steps. */
#ifndef LITIFUT_CPU_STEP_H
#define LITIFUT_CPU_STEP_H

#include <stdbool.h>
#include <stdint.h>

#include <litifut/module_format.h>

/* Between an exclusive load and its store no other store may be made (ldrex and strex, ll
 * and sc), or the store fails each time. */
enum cpu_exclusive {
	CPU_EXCLUSIVE_NONE = 0,
	CPU_EXCLUSIVE_OPENS,   /* the load */
	CPU_EXCLUSIVE_CLOSES,  /* the store, */
	CPU_EXCLUSIVE_GIVES_UP /* or an instruction that does so without one */
};

struct cpu_step {
	enum litifut_block_end way : 8;
	enum cpu_exclusive exclusive : 8;
	bool conditional; /* or the next instruction follows */
	bool likely;      /* its delay slot is executed only when it is taken */
	uint8_t length;   /* bytes of the instruction alone */
	uint8_t slot;     /* bytes of its delay slot */
	uint32_t target;  /* of a branch or a call, bit 0 set: T32 code; 0: not known */
};

struct litifut_instruction;

/* Sets the way and the target from the class of a decoded instruction; a jump through
 * `link_register` is a return. An instruction without a class changes nothing. */
void cpu_step_class(const struct litifut_instruction *instruction, unsigned link_register,
		    struct cpu_step *step);

#endif
