/* What QEMU's plugin interface does not tell: the registers of the guest.
 *
 * The code that QEMU makes keeps the address of the CPU's state in one register of the host
 * (TCG_AREG0), which functions must preserve, and that state begins with the general registers
 * of ARM and of MIPS. At the start of a block all of them are up to date there. A callback that
 * is registered through ORACLE_WITH_STATE gets the address as its third argument. */
#ifndef LITIFUT_TESTS_ORACLE_REGISTERS_H
#define LITIFUT_TESTS_ORACLE_REGISTERS_H

#include <stdint.h>

#if defined(__x86_64__)
#define ORACLE_PASS_STATE "mov %rbp, %rdx\n\tjmp "
#elif defined(__aarch64__)
#define ORACLE_PASS_STATE "mov x2, x19\n\tb "
#else
#error "which register has the address of the CPU's state?"
#endif

/* Defines the function NAME_with_state, which goes on to NAME with one argument more. */
#define ORACLE_WITH_STATE(name)                                                                    \
	__asm__(".text\n.globl " #name "_with_state\n.hidden " #name "_with_state\n.type " #name   \
		"_with_state, %function\n" #name "_with_state:\n\t" ORACLE_PASS_STATE #name "\n")

enum { ORACLE_ARM_SP = 13, ORACLE_ARM_LR = 14, ORACLE_MIPS_SP = 29, ORACLE_MIPS_RA = 31 };

#endif
