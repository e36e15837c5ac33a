/* What an instruction reads, and what it certainly writes: registers and condition flags, as far as
 * it shows which of them hold nothing that is still to be read. */
#ifndef LITIFUT_CPU_ARM_USES_H
#define LITIFUT_CPU_ARM_USES_H

#include <stdbool.h>
#include <stdint.h>

/* Bit n is rN; the flags stand behind them. */
#define LITIFUT_ARM_USES_NZ 0x10000u
#define LITIFUT_ARM_USES_C 0x20000u
#define LITIFUT_ARM_USES_V 0x40000u
#define LITIFUT_ARM_USES_FLAGS (LITIFUT_ARM_USES_NZ | LITIFUT_ARM_USES_C | LITIFUT_ARM_USES_V)
#define LITIFUT_ARM_USES_ALL (LITIFUT_ARM_USES_FLAGS | 0xffffu)

struct litifut_arm_uses {
	uint32_t reads;  /* whatever may be read */
	uint32_t writes; /* what is written in any case, and never depends on what was there */
};

/* `word` as in struct litifut_instruction, `length` 2 or 4. An instruction that is not among those
 * that are known, and each that goes on elsewhere but b, bl and blx, reads everything. Of b, bl and
 * blx these are the reads and writes of the instruction alone. `always`: it is not made conditional
 * by an `it`. */
struct litifut_arm_uses litifut_arm_thumb_uses(uint32_t word, unsigned length, bool always);
struct litifut_arm_uses litifut_arm_plain_uses(uint32_t word);

#endif
