/* What an instruction reads, and what it certainly writes: general registers, as far as it shows
 * which of them hold nothing that is still to be read. */
#ifndef LITIFUT_CPU_MIPS_USES_H
#define LITIFUT_CPU_MIPS_USES_H

#include <stdint.h>

/* Bit n is $n; $zero is never among them. */
#define LITIFUT_MIPS_USES_ALL 0xfffffffeu

struct litifut_mips_uses {
	uint32_t reads;  /* whatever may be read */
	uint32_t writes; /* what is written in any case, and never depends on what was there */
};

/* An instruction that is not among those that are known reads everything. Of branches, jumps and
 * calls these are the reads and writes of the instruction alone: not of its delay slot, nor of what
 * it leads to. */
struct litifut_mips_uses litifut_mips_uses(uint32_t word);

#endif
