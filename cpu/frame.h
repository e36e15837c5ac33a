/* Where the return address of a function is while the function runs. */
#ifndef LITIFUT_CPU_FRAME_H
#define LITIFUT_CPU_FRAME_H

#include <stdbool.h>
#include <stdint.h>

/* All in bytes, counted from where the stack pointer was when the function was entered; where a
 * call pushes the return address, before that. */
struct cpu_frame {
	bool known;
	uint32_t depth; /* so far below that the stack pointer is */
	uint32_t saved; /* so far below that the return address is; 0: in the link register */
	uint32_t kept;  /* so far below that the frame pointer is; 0: not known */
	/* Private to track(): so many of the next instructions have a condition (an IT block). */
	unsigned conditional;
	bool may_leave; /* an instruction that has a condition changes the stack pointer */
};

#endif
