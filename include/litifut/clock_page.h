/* The clock of reproducible tests (LITIFUT_CLOCK=page): a page of a traced program that the
 * QEMU plugin in tests/oracle keeps up to date. The recorder maps it, empty; the plugin sees
 * that and writes how many instructions the process has executed, those of the tracer left
 * out, to its start: a 64-bit number in the byte order of the program. Without the plugin it
 * stays 0. */
#ifndef LITIFUT_CLOCK_PAGE_H
#define LITIFUT_CLOCK_PAGE_H

/* Nothing else that QEMU or a linker chooses by itself lies there. */
#define LITIFUT_CLOCK_PAGE_ADDRESS 0x2f000000u
#define LITIFUT_CLOCK_PAGE_HERTZ 1000000000u /* so that an instruction is shown as 1 ns */

#endif
