/* The only list of CPUs: NAME stands for the folders cpu/NAME, which defines `struct cpu
 * cpu_NAME`, and rewriter/NAME, which defines `struct litifut_arch litifut_arch_NAME`. */
#ifndef LITIFUT_CPU_LIST_H
#define LITIFUT_CPU_LIST_H

#define CPU_LIST(CPU) CPU(arm) CPU(mips) CPU(avr)

#endif
