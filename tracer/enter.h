/* What the assembly stubs call; all are hidden in their module. */
#ifndef LITIFUT_TRACER_ENTER_H
#define LITIFUT_TRACER_ENTER_H

#include <stdint.h>

struct litifut_frame;
struct litifut_module;
struct litifut_module_state;

/* Finds the call that returns to the frame's return address in the instruction
 * DB of `module`, records it, and returns its callee (bit 0: Thumb). Returns 0,
 * with nothing recorded, when there is no such call, or (MIPS) when the callee
 * is in a register that the frame does not hold yet. */
uint32_t litifut_enter(const struct litifut_frame *frame, struct litifut_module *module,
		       struct litifut_module_state *state) __attribute__((visibility("hidden")));

/* MIPS: records a `jalr $t9`, whose callee is in the frame. */
void litifut_enter_register(const struct litifut_frame *frame, struct litifut_module *module,
			    struct litifut_module_state *state)
	__attribute__((visibility("hidden")));

#endif
