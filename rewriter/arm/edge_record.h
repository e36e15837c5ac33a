/* How the code of an edge calls the code of the tracer that records. */
#ifndef LITIFUT_REWRITER_ARM_EDGE_RECORD_H
#define LITIFUT_REWRITER_ARM_EDGE_RECORD_H

#include "rewriter/edges.h"

/* How a bit is recorded where some registers hold nothing (`free` of struct litifut_edge). */
enum litifut_arm_free {
	LITIFUT_ARM_FREE_NOTHING,
	LITIFUT_ARM_FREE_FLAGS,
	LITIFUT_ARM_FREE_PAIR /* and the number of the pair */
};

/* What stands behind a call of the code that records a number: 31 less its bits, the number, its
 * bits. Of T32 code the link register is odd. */
uint32_t litifut_arm_edge_number_word(const struct litifut_block *block);

/* The code that records a bit, 0 or 1, where what `form` says is free; `bits` as in struct
 * litifut_edge_code. */
uint32_t litifut_arm_edge_free_code(const uint32_t *bits, unsigned bit, uint8_t form);

#endif
