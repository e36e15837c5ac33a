/* The code that sets flags, of T32 code:
 *
 *	site:	b.w  code		the branch, with an instruction before or behind it if
 *	next:	...			it has 16 bits
 *	code:	cmp  r3, #0		what stood before the branch
 *		beq  taken
 *		push {r0}
 *		ldr  r0, =passed	relative to the pc
 *		strb r0, [r0]		no flag has an address that ends with a zero byte
 *		pop  {r0}
 *		b.w  next
 *	taken:	the same with the other flag
 *		b.w  target
 *
 * Where one of r0 to r3 or lr holds nothing (dead.h), that is taken, and nothing is pushed.
 *
 * and of A32 code, where nothing else moves. A branch that an `it` makes conditional goes together
 * with that. Where neither neighbour can move, a stepping stone leads on (stone.c).
 *
 * A CPU without b.w has bl alone for such a way, which changes lr. There only code is recorded
 * where lr holds nothing, as it mostly does behind a push: the start of a block then somewhere
 * within it.
 *
 * With LITIFUT_MODE=paths no flag is set: between `push {r0-r2, lr}` and `pop {r0-r2, lr}`, in a
 * firmware `push {r0, lr}` and `pop {r0, lr}`, stands a call of the tracer's code that records a
 * bit (tracer/arm/bits.S, tracer/arm/paths). Where the flags hold nothing, that is a shorter one;
 * where lr, r0 and one of the registers r1 to r3 hold nothing either, nothing is pushed (dead.h).
 *
 * Encodings: DDI 0406C A5 (A32), A6 (T32).
 *
 * edge_forms.c has the forms of code that move, edge_judge.c looks whether an edge can be recorded,
 * edge_thumb.c and edge_plain.c write its code, edge_function.c looks for what leads into the
 * blocks of a function. */
#include "rewriter/arm/edge.h"

#include <string.h>

#include "cpu/arm/arm.h"
#include "cpu/step.h"
#include "rewriter/arm/addresses.h"
#include "rewriter/arm/edge_forms.h"
#include "rewriter/arm/edge_function.h"
#include "rewriter/arm/edge_judge.h"
#include "rewriter/arm/edge_plain.h"
#include "rewriter/arm/edge_thumb.h"
#include "rewriter/arm/emitter.h"
#include "rewriter/arm/plain.h"
#include "rewriter/arm/thunk.h"

static bool write_edge(const struct litifut_edge_place *place, const struct litifut_edge *edge,
		       uint32_t address, struct litifut_edge_code *code)
{
	memset(&code->detour, 0, sizeof(code->detour));
	return place->block->block.flags & LITIFUT_BLOCK_THUMB
		       ? litifut_arm_write_edge_thumb(place, edge, address, code)
		       : litifut_arm_write_edge_plain(place, edge, address, code);
}

/* tbb and tbh, whose table holds distances from the next instruction, and of A32 code the jumps
 * that litifut_arm_edge_is_plain_switch() has. */
static bool reads_own_table(const struct litifut_edge_place *place)
{
	const struct litifut_block *block = &place->block->block;
	const struct litifut_arm_displaced jump =
		block->flags & LITIFUT_BLOCK_THUMB ? litifut_arm_edge_thumb(place, block->branch)
						   : (struct litifut_arm_displaced){0};

	return jump.length ? jump.length == 4 && (jump.instruction & 0xfff0ffe0) == 0xe8d0f000
			   : litifut_arm_edge_is_plain_switch(place);
}

static bool lead(const struct litifut_edge_place *place, uint8_t *code)
{
	const struct litifut_block *block = &place->block->block;
	const bool thumb = block->flags & LITIFUT_BLOCK_THUMB;
	const struct litifut_instruction call = {.length = 4, .thumb = thumb, .word = 0xeb000000};

	if (!block->target || place->block->length != 4)
		return false;
	if (block->ends == LITIFUT_ENDS_CALL)
		return litifut_arm_encode_call(&place->context->cpu, &call, block->branch,
					       place->target, code);
	return thumb ? litifut_arm_branch_write(block->branch, place->target & ~1u, code)
		     : litifut_arm_put_plain_branch(LITIFUT_ARM_ALWAYS, block->branch,
						    place->target, code);
}

const struct litifut_arch_edges litifut_arm_edges = {
	.join = litifut_arm_join_entry,
	.reads_table = reads_own_table,
	.add_addresses = litifut_arm_add_addresses,
	.may_call = litifut_arm_may_call,
	.refuses_bits = litifut_arm_refuses_bits,
	.judge_function = litifut_arm_judge_function,
	.judge_branch = litifut_arm_judge_branch,
	.judge_entry = litifut_arm_judge_entry,
	.write = write_edge,
	.lead = lead,
	.bytes_max = LITIFUT_EDGE_BYTES_MAX,
};
