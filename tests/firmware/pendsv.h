/* The change of tasks of a small kernel, for all instruction sets of Cortex-M. A file that includes
 * it defines switch_task(), which notes the stack pointer of a task and returns that of the next.
 * EITHER_STACK: it looks which of the two stack pointers that is, as RTX and NuttX do, but not on
 * v6-M. */
#ifndef PENDSV_H
#define PENDSV_H

#include <stdint.h>

uint32_t *switch_task(uint32_t *stack);

__attribute__((naked)) void PendSV_Handler(void)
{
	__asm__(".syntax unified\n"
#ifdef EITHER_STACK
		"tst lr, #4\n"
		"ite eq\n"
		"mrseq r0, msp\n"
		"mrsne r0, psp\n"
#else
		"mrs r0, psp\n"
#endif
		"subs r0, #32\n"
		"stmia r0!, {r4, r5, r6, r7}\n"
		"mov r4, r8\n"
		"mov r5, r9\n"
		"mov r6, r10\n"
		"mov r7, r11\n"
		"stmia r0!, {r4, r5, r6, r7}\n"
		"subs r0, #32\n"
		"push {r0, lr}\n"
		"bl switch_task\n"
		"ldr r1, [sp, #4]\n"
		"mov lr, r1\n"
		"add sp, #8\n"
		"adds r0, #16\n"
		"ldmia r0!, {r4, r5, r6, r7}\n"
		"mov r8, r4\n"
		"mov r9, r5\n"
		"mov r10, r6\n"
		"mov r11, r7\n"
		"subs r0, #32\n"
		"ldmia r0!, {r4, r5, r6, r7}\n"
		"adds r0, #16\n"
#ifdef EITHER_STACK
		"tst lr, #4\n"
		"ite eq\n"
		"msreq msp, r0\n"
		"msrne psp, r0\n"
#else
		"msr psp, r0\n"
#endif
		"bx lr\n");
}

#endif
