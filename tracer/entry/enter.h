/* What the assembly stubs call; all are hidden in their module. */
#ifndef LITIFUT_TRACER_ENTER_H
#define LITIFUT_TRACER_ENTER_H

#include <stdint.h>

#include <litifut/litifut.h>

struct litifut_frame;
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

/* The same of a `bal` whose callee is in $t9 as well. */
void litifut_enter_near(const struct litifut_frame *frame, struct litifut_module *module,
			struct litifut_module_state *state) __attribute__((visibility("hidden")));

/* Records the call of a thunk, and returns its callee. The frame has the address of
 * the thunk's exit, the instruction that goes on to the callee. `stack_pointer` is
 * the caller's. */
uint32_t litifut_enter_thunk(const struct litifut_frame *frame, struct litifut_module *module,
			     struct litifut_module_state *state, uint32_t stack_pointer)
	__attribute__((visibility("hidden")));

#endif
