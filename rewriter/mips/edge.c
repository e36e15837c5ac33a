/* The code that sets flags, of MIPS code:
 *
 *	site:	b     code		or j; or by an island with the number of the code in $at
 *		nop			or the delay slot, where it may come before the test
 *	code:	beq   rS, rT, taken
 *		slot
 *		edge of `passed`, to site + 8
 *	taken:	edge of `taken`, to the target
 *
 * An edge keeps all but $at and registers that hold nothing. The code that sets a flag is in
 * edge_flags.c.
 *
 * With LITIFUT_MODE=paths an edge calls a copy of the tracer's code that records a bit
 * (tracer/mips/bits.S), which goes on by the word behind the call:
 *
 *	addiu sp, sp, -16
 *	sw    ra, 12(sp)
 *	bal   bit_one		or jal; bit_zero, enter
 *	sw    v1, 8(sp)
 *	.word target - .
 *
 * What moved from the start of a block stands before the code of its edge, or behind it where it
 * may fault: the last block before a crash is recorded.
 *
 * Where control may come to a second place 4 bytes behind one that is recorded, the start of the
 * second moves as well, and makes room for the delay slot:
 *
 *	first:	b     code
 *	second:	nop			or the number of `code`
 *		b     code of second
 *		nop			or its number
 *
 * If the second place is not recorded, or a later block records it (paths.h), its instruction may
 * stay where both instructions may change places. It is executed before that of `first`:
 *
 *	first:	b     code		or the step of another entry, which has room for a number
 *	second:	its instruction
 *
 * Compilers use $at in exclusive sequences and hardly elsewhere. The branch of an atomic operation,
 * which reads $at, moves with all of its block. Elsewhere, where it may hold something, the branch
 * is left.
 *
 * edge_forms.c has what judging and writing must agree on, edge_judge.c looks whether an edge can
 *be recorded, edge_write.c writes its code, edge_ways.c the ways to that, edge_function.c looks for
 *what leads into the blocks of a function. */
#include "rewriter/mips/edge.h"

#include <litifut/thunk_abi.h>

#include "rewriter/mips/called.h"
#include "rewriter/mips/edge_flags.h"
#include "rewriter/mips/edge_function.h"
#include "rewriter/mips/edge_judge.h"
#include "rewriter/mips/edge_ways.h"
#include "rewriter/mips/edge_write.h"

const struct litifut_arch_edges litifut_mips_edges = {
	.find_called = litifut_mips_find_called,
	.add_addresses = litifut_mips_add_addresses,
	.may_call = litifut_mips_may_call,
	.refuses_bits = litifut_mips_refuses_thunks,
	.bits_bytes = LITIFUT_BITS_BYTES_MIPS,
	.near_bytes = 0x1e000,
	.can_step = litifut_mips_can_step,
	.write_step = litifut_mips_write_edge_step,
	.step_entry = LITIFUT_MIPS_ENTRY_NUMBERED,
	.join = litifut_mips_join_entry,
	.judge_function = litifut_mips_judge_function,
	.judge_branch = litifut_mips_judge_branch,
	.judge_entry = litifut_mips_judge_entry,
	.write = litifut_mips_write_edge,
	.lead = litifut_mips_lead_edge,
	.write_way = litifut_mips_write_way,
	.holds = litifut_mips_holds_start,
	.mark_bytes = LITIFUT_MIPS_MARK_BYTES,
	.write_mark = litifut_mips_write_mark,
	.bytes_max = LITIFUT_EDGE_BYTES_MAX,
};
