/* Which instructions are calls: the oracle's own reading of the manuals, on
 * purpose not that of the rewriter, so that the two can disagree. */
#ifndef LITIFUT_TESTS_ORACLE_DECODE_H
#define LITIFUT_TESTS_ORACLE_DECODE_H

#include <stdbool.h>
#include <stdint.h>

struct oracle_call {
	uint32_t target;         /* of a direct call, Thumb bit clear; else ORACLE_UNKNOWN */
	uint32_t return_address; /* where execution goes on after it, Thumb bit clear */
};

#define ORACLE_UNKNOWN UINT32_MAX

/* Each returns whether the instruction at `address` is a call and fills `call`
 * only then. Conditional calls are calls; whether one was taken shows in what
 * executes next. */
/* `before` is the word before it, 0 when it is not known: `mov lr, pc` makes a
 * call of any jump. */
bool oracle_decode_a32(uint32_t address, uint32_t word, uint32_t before, struct oracle_call *call);

/* `length` is 2 (`second` is ignored) or 4. */
bool oracle_decode_t32(uint32_t address, uint16_t first, uint16_t second, unsigned length,
		       struct oracle_call *call);

/* The caller has put the word in order. */
bool oracle_decode_mips(uint32_t address, uint32_t word, struct oracle_call *call);

/* Is this line of QEMU's ARM disassembly, A32 or T32, a bl or blx with a condition or
 * none? `ble`, `blt.w` and their like are branches. */
bool oracle_text_is_call(const char *text);

/* Does a delay slot come after this instruction? */
bool oracle_has_delay_slot(uint32_t word);

#endif
