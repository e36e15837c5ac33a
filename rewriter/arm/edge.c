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
 * Encodings: DDI 0406C A5 (A32), A6 (T32). More than 500 lines in one file, because what is judged
 * and what is written must agree on each form. */
#include "rewriter/arm/edge.h"

#include <litifut/thunk_abi.h>
#include <string.h>

#include "cpu/arm/uses.h"
#include "cpu/step.h"
#include "rewriter/arm/addresses.h"
#include "rewriter/arm/dead.h"
#include "rewriter/arm/emitter.h"
#include "rewriter/arm/link_register.h"
#include "rewriter/arm/plain.h"
#include "rewriter/arm/scaled_jump.h"
#include "rewriter/arm/stone.h"
#include "rewriter/arm/table_call.h"
#include "rewriter/arm/tasks.h"
#include "rewriter/arm/tail.h"
#include "rewriter/arm/thumb1.h"
#include "rewriter/arm/thunk.h"
#include "rewriter/arm/word_table.h"

#define BRANCH_BYTES 4u
#define LR 14
#define ALWAYS 0xe0000000u
#define MOVED_MAX 6

static const uint8_t *code_at(const struct litifut_edge_place *place, uint32_t address)
{
	return place->section->bytes + (address - place->section->address);
}

static struct litifut_arm_displaced thumb_at(const struct litifut_edge_place *place,
					     uint32_t address)
{
	const uint8_t *code = code_at(place, address);
	const uint16_t first = litifut_get16(false, code);

	if (!litifut_arm_thumb_is_wide(first))
		return (struct litifut_arm_displaced){address, first, 2};
	return (struct litifut_arm_displaced){
		address, (uint32_t)first << 16 | litifut_get16(false, code + 2), 4};
}

/* The only way to other code is a bl. */
static bool has_only_links(const struct litifut_edge_place *place)
{
	return litifut_arm_short_branches(&place->context->cpu);
}

/* Does lr hold nothing at the address? */
static bool link_is_free(const struct litifut_edge_place *place, uint32_t address)
{
	const uint32_t start = place->image->symbols[place->block->function - 1].address;
	const uint32_t section_end = place->section->address + place->section->size;

	return litifut_arm_link_is_free(place->section, start,
					place->function_end < section_end ? place->function_end
									  : section_end,
					true, start, address);
}

/* How a bit is recorded where some registers hold nothing (`free` of struct litifut_edge). */
enum free_form {
	FREE_NOTHING,
	FREE_FLAGS,
	FREE_PAIR /* and the number of the pair */
};

/* Where flags are set: the number of a register, and one more; 0: there is none. */
static uint8_t free_for_flag(uint32_t dead, bool link)
{
	for (unsigned reg = 0; reg < 4; reg++)
		if (dead & 1u << reg)
			return (uint8_t)(reg + 1);
	return link && dead & 1u << LR ? LR + 1 : 0;
}

/* Of litifut_bits_free. */
static const uint8_t free_pairs[] = {0x3, 0x5, 0x9};

static uint8_t free_at(const struct litifut_edge_place *place, uint32_t address)
{
	const uint32_t start = place->image->symbols[place->block->function - 1].address;
	const uint32_t section_end = place->section->address + place->section->size;
	const uint32_t dead = litifut_arm_dead(
		place->section, start,
		place->function_end < section_end ? place->function_end : section_end,
		place->block->block.flags & LITIFUT_BLOCK_THUMB, address);

	if (!place->context->bits)
		return free_for_flag(dead, !has_only_links(place));
	if (~dead & LITIFUT_ARM_USES_FLAGS)
		return FREE_NOTHING;
	for (unsigned i = 0; i < sizeof(free_pairs) && dead & 1u << LR; i++)
		if (!(free_pairs[i] & ~dead))
			return (uint8_t)(FREE_PAIR + i);
	return FREE_FLAGS;
}

/* Looks for what is free where the edge sets flags or records bits; its address is known. */
static void find_free(const struct litifut_edge_place *place, struct litifut_edge *edge)
{
	const struct litifut_block *block = &place->block->block;

	if (place->context->bits && (!place->context->system || place->context->units))
		return;
	if ((edge->entry && !edge->end) || edge->enters)
		edge->free[LITIFUT_WAY_ENTERED] = free_at(place, edge->address);
	if (edge->entry || block->ends != LITIFUT_ENDS_BRANCH)
		return;
	edge->free[LITIFUT_WAY_PASSED] = free_at(place, block->end);
	if (!(block->target & 1) == !(block->flags & LITIFUT_BLOCK_THUMB))
		edge->free[LITIFUT_WAY_TAKEN] = free_at(place, block->target & ~1u);
	/* the first call is the one that records the start: it alone may return to the first bytes
	 * of the code (edge_call_bytes of struct cpu) */
	for (unsigned way = 0; way < 3 && edge->enters && block->flags & LITIFUT_BLOCK_THUMB; way++)
		if (way != LITIFUT_WAY_TAKEN && edge->free[way] > FREE_FLAGS)
			edge->free[way] = FREE_FLAGS;
}

static bool moves(const struct litifut_edge_place *place,
		  const struct litifut_arm_displaced *displaced)
{
	switch (litifut_arm_analyse(displaced).treatment) {
	case LITIFUT_ARM_MOVES:
	case LITIFUT_ARM_LOADS_LITERAL:
	case LITIFUT_ARM_FORMS_ADDRESS:
		return !has_only_links(place) || litifut_arm_thumb1_displaceable(displaced);
	case LITIFUT_ARM_LOADS_PAIR:
	case LITIFUT_ARM_ADDS_PC:
	case LITIFUT_ARM_LOADS_VECTOR:
		return !has_only_links(place);
	default:
		return false;
	}
}

/* May the end of a block, which is not conditional, be done elsewhere? */
static bool ends_anywhere(const struct litifut_edge_place *place,
			  const struct litifut_graph_block *block)
{
	const struct litifut_arm_displaced end = thumb_at(place, block->block.branch);

	switch (block->block.ends) {
	case LITIFUT_ENDS_BRANCH:
		return block->block.target & 1;
	case LITIFUT_ENDS_RETURN:
		return true;
	case LITIFUT_ENDS_JUMP: /* bx rN, mov pc, rN */
		return end.length == 2 &&
		       ((end.instruction & 0xff87) == 0x4700 ||
			(end.instruction & 0xff87) == 0x4687) &&
		       (end.instruction >> 3 & 15) != 15;
	case LITIFUT_ENDS_CALL: /* bl, blx; blx rN */
		return block->block.target
			       ? block->block.target & 1 || !has_only_links(place)
			       : end.length == 2 && (end.instruction & 0xff87) == 0x4780 &&
					 (end.instruction >> 3 & 15) < LR;
	default:
		return false;
	}
}

/* What an `it` makes conditional, of which the branch is the last. */
struct conditional {
	uint32_t address; /* of the `it` */
	uint16_t shorter; /* the same without the branch; 0: there is the branch alone */
	uint16_t branch;  /* with its condition, without an offset */
};

/* False: there is something between them that can't move, or no such condition of a branch. */
static bool find_conditional(const struct litifut_edge_place *place, struct conditional *found)
{
	const struct litifut_block *block = &place->block->block;

	for (uint32_t at = block->start; at < block->branch; at += thumb_at(place, at).length) {
		const uint16_t half = litifut_get16(false, code_at(place, at));
		const unsigned count = litifut_arm_it_length(half);
		unsigned condition = half >> 4 & 15;
		uint32_t inner = at + 2;

		if (!count)
			continue;
		for (unsigned i = 1; i < count && inner < block->branch; i++) {
			const struct litifut_arm_displaced each = thumb_at(place, inner);

			if (litifut_arm_analyse(&each).treatment != LITIFUT_ARM_MOVES ||
			    (each.length == 4 && litifut_arm_task_access(each.instruction)))
				break;
			inner += each.length;
		}
		if (inner != block->branch)
			continue;
		*found = (struct conditional){.address = at};
		if (count > 1) {
			const unsigned mask = half & 15;

			condition = (condition & 14) | (mask >> (5 - count) & 1);
			found->shorter =
				(uint16_t)((half & 0xfff0) | (mask & (0xfu << (6 - count))) |
					   1u << (5 - count));
		}
		found->branch = (uint16_t)(0xd000 | condition << 8);
		return condition < 14;
	}
	return false;
}

/* Does the block end by a call of a part of its own function? In libgcc's multiplication and
 * division of floating-point numbers such a part may return to the function's caller. */
static bool calls_own_part(const struct litifut_edge_place *place)
{
	const struct litifut_block *block = &place->block->block;
	const struct litifut_graph_block *part;

	if (block->ends != LITIFUT_ENDS_CALL || !block->target)
		return false;
	part = litifut_graph_at(place->graph, block->target & ~1u);
	return part && part->function == place->block->function && part > place->graph->items &&
	       part[-1].function == part->function;
}

static unsigned judge_in_block(const struct litifut_edge_place *place, struct litifut_edge *edge)
{
	const struct litifut_graph_block *block = place->block;
	struct conditional conditional;

	if (!find_conditional(place, &conditional) || !ends_anywhere(place, block) ||
	    calls_own_part(place))
		return LITIFUT_SITE_SPECIAL_FORM;
	edge->address = conditional.address;
	edge->before = (uint8_t)(block->block.branch - conditional.address);
	edge->bytes = (uint8_t)(edge->before + block->length);
	return litifut_edge_is_free(place, edge->address, edge->bytes) ? LITIFUT_SITE_PATCHED
								       : LITIFUT_SITE_BRANCH_TARGET;
}

/* The instruction behind the branch moves along: how many bytes; 0: it can't. */
static unsigned behind(const struct litifut_edge_place *place)
{
	const struct litifut_graph_block *next = place->next;
	struct litifut_arm_displaced first;

	if (!next || next->first_exclusive || next->function != place->block->function ||
	    litifut_targets_has(&place->graph->targets, next->block.start))
		return 0;
	first = thumb_at(place, next->block.start);
	if (!litifut_edge_is_free(place, first.address, first.length))
		return 0;
	if (next->block.ends != LITIFUT_ENDS_ON && next->block.branch == next->block.start)
		return !(next->block.flags & LITIFUT_BLOCK_CONDITIONAL) &&
				       next->block.ends != LITIFUT_ENDS_CALL &&
				       ends_anywhere(place, next)
			       ? first.length
			       : 0;
	if (first.length == 2 && litifut_arm_it_length((uint16_t)first.instruction))
		return 0;
	return moves(place, &first) ? first.length : 0;
}

static unsigned judge_thumb_branch(const struct litifut_edge_place *place,
				   struct litifut_edge *edge)
{
	const struct litifut_graph_block *block = place->block;

	edge->address = block->block.branch;
	if (has_only_links(place) && !link_is_free(place, block->block.branch))
		return LITIFUT_SITE_TOO_SHORT;
	if (block->in_block)
		return judge_in_block(place, edge);
	if (block->block.ends != LITIFUT_ENDS_BRANCH)
		return LITIFUT_SITE_SPECIAL_FORM;
	edge->bytes = block->length;
	if (!litifut_edge_is_free(place, edge->address, edge->bytes))
		return LITIFUT_SITE_BRANCH_TARGET;
	if (block->length == BRANCH_BYTES)
		return LITIFUT_SITE_PATCHED;
	if (block->last && !block->last_in_block) {
		const struct litifut_arm_displaced last =
			thumb_at(place, block->block.branch - block->last);

		if (moves(place, &last) && litifut_edge_is_free(place, last.address, last.length)) {
			edge->address = last.address;
			edge->before = block->last;
			edge->bytes += block->last;
			return LITIFUT_SITE_PATCHED;
		}
	}
	edge->after = (uint8_t)behind(place);
	edge->bytes += edge->after;
	if (edge->after)
		return LITIFUT_SITE_PATCHED;
	edge->wants_stone = true;
	return LITIFUT_SITE_BRANCH_TARGET;
}

/* `add<cond> pc, pc, rN, lsl #2` */
static bool skips_branches(uint32_t word)
{
	return (word & 0x0ffffff0) == 0x008ff100;
}

/* `ldr<cond> pc, [pc, rN, lsl #2]` */
static bool reads_table(uint32_t word)
{
	return (word & 0x0ffffff0) == 0x079ff100;
}

/* One of these two, whose cases are known: label_branches(), and the table of addresses that stands
 * behind the next instruction. */
static bool is_plain_switch(const struct litifut_edge_place *place)
{
	const struct litifut_block *block = &place->block->block;
	const uint32_t word = litifut_get32(false, code_at(place, block->branch));
	const struct litifut_section *section = place->section;
	uint32_t address = block->branch + 8;
	const struct litifut_graph_block *first;

	if ((word & 15) == 13 || (word & 15) == 15 || !(skips_branches(word) || reads_table(word)))
		return false;
	if (reads_table(word)) {
		if (address - section->address > section->size - 4)
			return false;
		address = litifut_get32(false, code_at(place, address));
	}
	first = litifut_graph_at(place->graph, address);
	return first && first->function == place->block->function &&
	       first->block.flags & LITIFUT_BLOCK_LABEL;
}

static unsigned judge_plain_branch(const struct litifut_edge_place *place,
				   struct litifut_edge *edge)
{
	const struct litifut_block *block = &place->block->block;
	const uint32_t word = litifut_get32(false, code_at(place, block->branch));
	const uint32_t always = (word & 0x0fffffff) | ALWAYS;

	edge->address = block->branch;
	edge->bytes = 4;
	if (!litifut_edge_is_free(place, edge->address, 4))
		return LITIFUT_SITE_BRANCH_TARGET;
	switch (block->ends) {
	case LITIFUT_ENDS_BRANCH:
		return LITIFUT_SITE_PATCHED;
	case LITIFUT_ENDS_CALL:
		return block->target ? LITIFUT_SITE_PATCHED
		       : (word & 0x0ffffff0) == 0x012fff30 && (word & 15) < LR
			       ? LITIFUT_SITE_PATCHED
			       : LITIFUT_SITE_SPECIAL_FORM;
	default:
		return is_plain_switch(place) ||
				       litifut_arm_plain_treatment(always, block->branch) ==
					       LITIFUT_ARM_PLAIN_ENDS
			       ? LITIFUT_SITE_PATCHED
			       : LITIFUT_SITE_SPECIAL_FORM;
	}
}

static unsigned judge_branch(const struct litifut_edge_place *place, struct litifut_edge *edge)
{
	find_free(place, edge);
	return place->block->block.flags & LITIFUT_BLOCK_THUMB ? judge_thumb_branch(place, edge)
							       : judge_plain_branch(place, edge);
}

/* What moves from the start of a block. */
struct moved {
	struct litifut_arm_displaced items[MOVED_MAX];
	unsigned count;
	unsigned bytes;
	bool with_end; /* the last of them is the end of the block */
};

/* An `it`, the last of the items so far, which begin at `start`, and all that it makes conditional.
 */
static bool gather_block(const struct litifut_edge_place *place, uint32_t start,
			 struct moved *moved)
{
	const struct litifut_block *block = &place->block->block;
	unsigned left = litifut_arm_it_length((uint16_t)moved->items[moved->count].instruction);

	moved->bytes += 2;
	for (moved->count++; left; left--, moved->count++) {
		const uint32_t at = start + moved->bytes;
		struct litifut_arm_displaced *each = &moved->items[moved->count];

		if (moved->count == MOVED_MAX || at >= block->end ||
		    (block->ends != LITIFUT_ENDS_ON && at == block->branch))
			return false;
		*each = thumb_at(place, at);
		/* nothing that takes more than one instruction */
		if (litifut_arm_analyse(each).treatment != LITIFUT_ARM_MOVES ||
		    (each->length == 4 && litifut_arm_task_access(each->instruction)) ||
		    !litifut_edge_is_free(place, at, each->length))
			return false;
		moved->bytes += each->length;
	}
	return true;
}

/* Collects at least `wanted` bytes from `start`, in the block; false: it is not possible. */
static bool gather(const struct litifut_edge_place *place, uint32_t start, unsigned wanted,
		   struct moved *moved)
{
	const struct litifut_graph_block *block = place->block;

	*moved = (struct moved){0};
	while (moved->bytes < wanted) {
		const uint32_t at = start + moved->bytes;
		struct litifut_arm_displaced *each = &moved->items[moved->count];

		if (moved->with_end) {
			if (!litifut_edge_is_unused(place, at))
				return false;
			moved->bytes += 2;
			continue;
		}
		if (at >= block->block.end || moved->count == MOVED_MAX)
			return false;
		*each = thumb_at(place, at);
		if (!litifut_edge_is_free(place, at, each->length))
			return false;
		moved->with_end = block->block.ends != LITIFUT_ENDS_ON && block->block.branch == at;
		if (!moved->with_end && each->length == 2 &&
		    litifut_arm_it_length((uint16_t)each->instruction)) {
			if (!gather_block(place, start, moved))
				return false;
			continue;
		}
		if (moved->with_end ? block->block.flags & LITIFUT_BLOCK_CONDITIONAL ||
					      !ends_anywhere(place, block)
				    : !moves(place, each))
			return false;
		moved->count++;
		moved->bytes += each->length;
	}
	return true;
}

/* Somewhere in the block, where lr holds nothing. */
static unsigned judge_linked_entry(const struct litifut_edge_place *place,
				   struct litifut_edge *edge)
{
	const struct litifut_block *block = &place->block->block;
	unsigned reason = LITIFUT_SITE_TOO_SHORT;
	struct moved moved;

	for (uint32_t at = block->start; at < block->end; at += thumb_at(place, at).length) {
		if (!link_is_free(place, at))
			continue;
		reason = LITIFUT_SITE_BRANCH_TARGET;
		if (!gather(place, at, BRANCH_BYTES, &moved)) {
			if (!edge->wants_stone && gather(place, at, 2, &moved) &&
			    moved.bytes == 2) {
				edge->address = at;
				edge->bytes = 2;
				edge->wants_stone = true;
			}
			continue;
		}
		edge->wants_stone = false;
		edge->address = at;
		edge->bytes = (uint8_t)moved.bytes;
		return LITIFUT_SITE_PATCHED;
	}
	return reason;
}

/* Where the code of an entry begins: behind what must stay the first instruction of a function. */
static uint32_t entry_of(const struct litifut_edge_place *place, const struct litifut_edge *edge)
{
	const struct litifut_block *block = &place->block->block;

	if (!edge->end)
		return block->flags & LITIFUT_BLOCK_THUMB &&
				       litifut_arm_is_landing(
					       thumb_at(place, block->start).instruction)
			       ? block->start + 4
			       : block->start;
	return block->branch ? block->branch : block->end - place->block->last;
}

/* LITIFUT_MODE=units, or a jump whose code records where it leads: the end of the block, with what
 * stands before it, as little as is enough. */
static unsigned judge_thumb_end(const struct litifut_edge_place *place, struct litifut_edge *edge)
{
	const struct litifut_block *block = &place->block->block;
	const uint32_t last = block->branch ? block->branch : block->end;
	unsigned conditional = 0; /* instructions of an IT block to come */
	unsigned length, bytes;
	struct moved moved;

	edge->address = last;
	if (block->ends == LITIFUT_ENDS_CALL) /* it would end before the call */
		return LITIFUT_SITE_SPECIAL_FORM;
	for (uint32_t at = block->start; at < block->end; at += length) {
		const struct litifut_arm_displaced each = thumb_at(place, at);

		length = each.length;
		bytes = block->end - at > BRANCH_BYTES ? block->end - at : BRANCH_BYTES;
		if (!conditional && (!has_only_links(place) || link_is_free(place, at)) &&
		    gather(place, at, bytes, &moved)) {
			edge->address = at;
			edge->bytes = (uint8_t)moved.bytes;
		}
		conditional = conditional   ? conditional - 1
			      : length == 2 ? litifut_arm_it_length((uint16_t)each.instruction)
					    : 0;
	}
	if (edge->bytes)
		return LITIFUT_SITE_PATCHED;
	edge->bytes = 2;
	edge->wants_stone = block->branch &&
			    (!has_only_links(place) || link_is_free(place, last)) &&
			    gather(place, last, 2, &moved) && moved.bytes == 2;
	return LITIFUT_SITE_BRANCH_TARGET;
}

static unsigned judge_thumb_entry(const struct litifut_edge_place *place, struct litifut_edge *edge)
{
	const struct litifut_block *block = &place->block->block;
	struct moved moved;

	if (edge->end && edge->needed && (place->context->units || place->block->jump_register))
		return judge_thumb_end(place, edge);
	edge->address = entry_of(place, edge);
	if (edge->whole && (block->end - edge->address < BRANCH_BYTES || has_only_links(place) ||
			    !gather(place, edge->address, block->end - edge->address, &moved)))
		return LITIFUT_SITE_BRANCH_TARGET;
	if (edge->whole) {
		edge->bytes = (uint8_t)moved.bytes;
		return LITIFUT_SITE_PATCHED;
	}
	if (has_only_links(place))
		return judge_linked_entry(place, edge);
	if (gather(place, edge->address, BRANCH_BYTES, &moved)) {
		edge->bytes = (uint8_t)moved.bytes;
		return LITIFUT_SITE_PATCHED;
	}
	edge->bytes = 2;
	edge->wants_stone = gather(place, edge->address, 2, &moved) && moved.bytes == 2;
	return LITIFUT_SITE_BRANCH_TARGET;
}

static unsigned judge_plain_entry(const struct litifut_edge_place *place, struct litifut_edge *edge)
{
	const struct litifut_block *block = &place->block->block;
	const uint32_t start = entry_of(place, edge);
	const uint32_t word = litifut_get32(false, code_at(place, start));

	edge->address = start;
	edge->bytes = 4;
	if (edge->whole && block->branch != start)
		return LITIFUT_SITE_BRANCH_TARGET;
	if (edge->end && edge->needed && block->ends == LITIFUT_ENDS_CALL)
		return LITIFUT_SITE_SPECIAL_FORM;
	if (!litifut_edge_is_free(place, edge->address, 4))
		return LITIFUT_SITE_BRANCH_TARGET;
	if (block->ends == LITIFUT_ENDS_CALL && block->branch == start) {
		if (block->flags & LITIFUT_BLOCK_CONDITIONAL)
			return LITIFUT_SITE_SPECIAL_FORM;
		return judge_plain_branch(place, edge);
	}
	return litifut_arm_plain_treatment(word, start) == LITIFUT_ARM_PLAIN_STUCK
		       ? LITIFUT_SITE_SPECIAL_FORM
		       : LITIFUT_SITE_PATCHED;
}

static unsigned judge_entry(const struct litifut_edge_place *place, struct litifut_edge *edge)
{
	const unsigned reason = place->block->block.flags & LITIFUT_BLOCK_THUMB
					? judge_thumb_entry(place, edge)
					: judge_plain_entry(place, edge);

	find_free(place, edge);
	return reason;
}

/* State while code is written: the emitter, and the frame that debuggers read. */
struct thumb {
	struct litifut_arm_emitter emitter;
	struct litifut_frame_code *frame;
	uint32_t flags;
	const struct litifut_arch_context *context;
	const uint32_t *bits; /* NULL: flags are set */
	const uint8_t *free;  /* by enum litifut_edge_way */
	/* LITIFUT_MODE=balllarus: by enum litifut_edge_way; NULL: bits are recorded */
	const struct litifut_number_calls *numbers;
	unsigned behind;       /* see struct litifut_edge_code */
	bool links;            /* there is bl, but no b.w */
	const uint32_t *tasks; /* the same, see struct litifut_edge_code */
	uint32_t interrupt;    /* the same */
	uint32_t spawns;       /* the same */
	uint32_t jumps;        /* the same */
	bool far;              /* something is out of reach */
	bool leads;            /* see struct litifut_edge_code */
};

static void note_saved(struct litifut_frame_code *frame, unsigned at, unsigned stack,
		       uint32_t saved)
{
	if (frame->step_count < LITIFUT_FRAME_STEPS)
		frame->steps[frame->step_count++] = (struct litifut_frame_step){at, stack, saved};
}

static void note(struct litifut_frame_code *frame, unsigned at, unsigned stack)
{
	note_saved(frame, at, stack, 0);
}

/* A bl of CPUs without Thumb-2 reaches 4 MB. */
static bool link_reaches(uint32_t from, uint32_t to)
{
	return to - from + (1u << 22) - 16 < (1u << 23) - 32;
}

/* What stands around a call of the tracer's: these registers and lr are pushed. */
static uint32_t pushed_for_calls(const struct litifut_arch_context *context)
{
	return context->system ? 7 : 1;
}

static void begin_calls(struct thumb *thumb)
{
	const uint32_t pushed = pushed_for_calls(thumb->context);

	litifut_arm_put(&thumb->emitter, (uint16_t)(0xb500 | pushed)); /* push {..., lr} */
	note_saved(thumb->frame, thumb->emitter.at, pushed == 1 ? 8 : 16, 1u << LR | pushed);
}

static void put_call(struct thumb *thumb, uint32_t target)
{
	static const struct cpu_context context = {0};
	static const struct litifut_instruction call = {.length = 4, .thumb = true};
	struct litifut_arm_emitter *emitter = &thumb->emitter;

	thumb->far |= !litifut_arm_encode_call(&context, &call, emitter->address + emitter->at,
					       target, emitter->code + emitter->at) ||
		      (thumb->links && !link_reaches(emitter->address + emitter->at, target));
	emitter->at += 4;
}

static void end_calls(struct thumb *thumb)
{
	struct litifut_arm_emitter *emitter = &thumb->emitter;

	if (thumb->links) {                       /* of a firmware */
		litifut_arm_put(emitter, 0x9800); /* ldr r0, [sp] */
		litifut_arm_put(emitter, 0xb002); /* add sp, #8 */
	} else {
		litifut_arm_put(emitter, 0xe8bd); /* pop.w {..., lr} */
		litifut_arm_put(emitter, (uint16_t)(0x4000 | pushed_for_calls(thumb->context)));
	}
	note(thumb->frame, emitter->at, 0);
}

static void call_bits(struct thumb *thumb, uint32_t target)
{
	begin_calls(thumb);
	put_call(thumb, target);
	end_calls(thumb);
}

/* What stands behind a call of the code that records a number: 31 less its bits, the number, its
 * bits. Of T32 code the link register is odd. */
static uint32_t number_word(const struct litifut_block *block)
{
	const uint32_t bits = LITIFUT_ENTERED_BITS(block->entered);
	const uint32_t word =
		(31 - bits) | LITIFUT_ENTERED_NUMBER_OF(block->entered) << 8 | bits << 16;

	return block->flags & LITIFUT_BLOCK_THUMB ? word << 8 : word;
}

static void call_number(struct thumb *thumb, const struct litifut_block *block)
{
	begin_calls(thumb);
	put_call(thumb, thumb->bits[LITIFUT_ENTERED_NUMBER]);
	litifut_arm_put(&thumb->emitter, (uint16_t)number_word(block));
	litifut_arm_put(&thumb->emitter, (uint16_t)(number_word(block) >> 16));
	end_calls(thumb);
}

/* The code that records a bit, 0 or 1, where this is free. */
static uint32_t free_code(const uint32_t *bits, unsigned bit, uint8_t form)
{
	return bits[0] + LITIFUT_BITS_FREE_ARM +
	       (2u * (form - FREE_FLAGS) + bit) * LITIFUT_BITS_FREE_BYTES;
}

/* The words stand behind the calls, at multiples of 4. */
static void call_numbers(struct thumb *thumb, const struct litifut_number_calls *calls)
{
	struct litifut_arm_emitter *emitter = &thumb->emitter;

	if (!calls->count)
		return;
	begin_calls(thumb);
	for (unsigned i = 0; i < calls->count; i++) {
		const struct litifut_number_call *call = &calls->items[i];

		if ((emitter->address + emitter->at) & 2)
			litifut_arm_put(emitter, 0xbf00); /* nop */
		put_call(thumb, thumb->bits[call->code]);
		for (unsigned j = 0; j < call->word_count; j++) {
			litifut_arm_put(emitter, (uint16_t)call->words[j]);
			litifut_arm_put(emitter, (uint16_t)(call->words[j] >> 16));
		}
	}
	end_calls(thumb);
}

static void set_flag(struct thumb *thumb, uint32_t flag, uint8_t free)
{
	struct litifut_arm_emitter *emitter = &thumb->emitter;
	const uint16_t reg = free ? free - 1 : 0;

	if (!free) {
		litifut_arm_put(emitter, 0xb401); /* push {r0} */
		note(thumb->frame, emitter->at, 4);
	}
	litifut_arm_put_value(emitter, reg, flag);
	if (reg < 8) {
		litifut_arm_put(emitter, 0x7000 | reg << 3 | reg); /* strb rN, [rN] */
	} else {
		litifut_arm_put(emitter, 0xf880 | reg);
		litifut_arm_put(emitter, (uint16_t)(reg << 12));
	}
	if (!free) {
		litifut_arm_put(emitter, 0xbc01); /* pop {r0} */
		note(thumb->frame, emitter->at, 0);
	}
}

static void mark(struct thumb *thumb, const struct litifut_block *block, enum litifut_edge_way way)
{
	const unsigned bit = litifut_edge_bit(thumb->context, block, way);

	if (thumb->numbers) {
		call_numbers(thumb, &thumb->numbers[way]);
		return;
	}
	if (thumb->bits) {
		if (way == LITIFUT_WAY_ENTERED && thumb->interrupt)
			call_bits(thumb, thumb->interrupt);
		if (bit < 2 && thumb->free[way] >= FREE_PAIR)
			put_call(thumb, free_code(thumb->bits, bit, thumb->free[way]));
		else if (bit < 2 && thumb->free[way])
			call_bits(thumb, free_code(thumb->bits, bit, thumb->free[way]));
		else if (bit == LITIFUT_ENTERED_NUMBER)
			call_number(thumb, block);
		else if (bit != LITIFUT_BIT_NONE)
			call_bits(thumb, thumb->bits[bit]);
		return;
	}
	set_flag(thumb, thumb->flags + litifut_edge_flag(block, way), thumb->free[way]);
}

static void go(struct thumb *thumb, uint32_t target)
{
	uint8_t unused[4];

	thumb->far |= !litifut_arm_branch_write(thumb->emitter.address + thumb->emitter.at,
						target & ~1u, unused);
	litifut_arm_put_branch(&thumb->emitter, target & ~1u);
	if (thumb->links) {
		litifut_arm_set_link(thumb->emitter.code + thumb->emitter.at - 4);
		thumb->far |= !link_reaches(thumb->emitter.address + thumb->emitter.at, target);
	}
}

/* bx pc; nop; and the A32 code that follows: b target */
static void go_to_plain(struct thumb *thumb, uint32_t target)
{
	struct litifut_arm_emitter *emitter = &thumb->emitter;

	if ((emitter->address + emitter->at) & 2)
		litifut_arm_put(emitter, 0xbf00);
	litifut_arm_put(emitter, 0x4778);
	litifut_arm_put(emitter, 0xbf00);
	thumb->far |= !litifut_arm_put_plain_branch(ALWAYS, emitter->address + emitter->at, target,
						    emitter->code + emitter->at);
	emitter->at += 4;
}

static void move(struct thumb *thumb, const struct litifut_arm_displaced *displaced)
{
	const struct litifut_arm_analysis analysis = litifut_arm_analyse(displaced);

	litifut_arm_put_displaced(&thumb->emitter, displaced, &analysis, false);
	if (displaced->length == 4 && thumb->tasks) {
		const unsigned access = litifut_arm_task_access(displaced->instruction);

		if (access && thumb->tasks[access - 1])
			call_bits(thumb, thumb->tasks[access - 1]);
	}
}

/* A call with the return address behind its place, in Thumb-1 code. */
static void put_linked_call(struct thumb *thumb, const struct litifut_graph_block *block,
			    uint32_t instruction)
{
	struct litifut_arm_emitter *emitter = &thumb->emitter;
	const uint32_t back = block->block.branch + block->length;

	litifut_arm_put(emitter, 0xb403); /* push {r0, r1} */
	litifut_arm_put_value(emitter, 0, back | 1);
	litifut_arm_put(emitter, 0x4686); /* mov lr, r0 */
	if (!block->block.target) {
		litifut_arm_put(emitter, 0xbc03);                           /* pop {r0, r1} */
		litifut_arm_put(emitter, (uint16_t)(instruction & ~0x80u)); /* bx rN */
		return;
	}
	litifut_arm_put_value(emitter, 0, block->block.target | 1);
	litifut_arm_put(emitter, 0x9001); /* str r0, [sp, #4] */
	litifut_arm_put(emitter, 0xbd01); /* pop {r0, pc} */
}

/* Writes the end of `block`, as if it were not conditional. */
static void put_end(struct thumb *thumb, const struct litifut_edge_place *place,
		    const struct litifut_graph_block *block)
{
	const struct litifut_arm_displaced end = thumb_at(place, block->block.branch);
	const uint32_t target = block == place->block ? place->target : block->block.target;

	thumb->leads |= block == place->block;
	if (block->spawns && thumb->bits)
		call_bits(thumb, thumb->spawns);
	if (block->jump_register && thumb->bits) {
		begin_calls(thumb);
		litifut_arm_put(&thumb->emitter, /* mov r0, rN */
				(uint16_t)(0x4600 | (block->jump_register - 1) << 3));
		put_call(thumb, thumb->jumps);
		end_calls(thumb);
	}
	switch (block->block.ends) {
	case LITIFUT_ENDS_BRANCH:
		go(thumb, target);
		break;
	case LITIFUT_ENDS_CALL:
		if (thumb->links) {
			put_linked_call(thumb, block, end.instruction);
			break;
		}
		litifut_arm_put_value(&thumb->emitter, LR,
				      (block->block.branch + block->length) | 1);
		if (target & 1)
			go(thumb, target);
		else if (target)
			go_to_plain(thumb, target);
		else /* bx rN */
			litifut_arm_put(&thumb->emitter, (uint16_t)(end.instruction & ~0x80u));
		break;
	default:
		if (end.length == 4)
			litifut_arm_put(&thumb->emitter, (uint16_t)(end.instruction >> 16));
		litifut_arm_put(&thumb->emitter, (uint16_t)end.instruction);
		break;
	}
}

/* The branch itself, without an offset. Returns its place for land(). The end of a loop (v8.1-M)
 * leads backwards alone:
 *
 *		b.n  1f
 *	0:	b.w  taken
 *	1:	le   lr, 0b
 */
static unsigned put_test(struct thumb *thumb, const struct litifut_arm_displaced *branch,
			 uint16_t condition)
{
	struct litifut_arm_emitter *emitter = &thumb->emitter;
	unsigned test = emitter->at;

	if (branch->length == 4 && litifut_arm_ends_loop(branch->instruction)) {
		litifut_arm_put(emitter, 0xe001); /* b.n */
		test = emitter->at;
		litifut_arm_put(emitter, 0xbf00); /* b.w */
		litifut_arm_put(emitter, 0xbf00);
		litifut_arm_put(emitter, (uint16_t)(branch->instruction >> 16));
		litifut_arm_put(emitter, 0xc005); /* by 8 bytes */
	} else if (branch->length == 4 && litifut_arm_begins_loop(branch->instruction)) {
		litifut_arm_put(emitter, (uint16_t)(branch->instruction >> 16));
		litifut_arm_put(emitter, 0xc001);
	} else {
		litifut_arm_put(emitter, condition);
	}
	return test;
}

/* Lets what put_test() has written at `test` go to where the code stands now. */
static void land(struct thumb *thumb, const struct litifut_arm_displaced *branch,
		 uint16_t condition, unsigned test)
{
	struct litifut_arm_emitter *emitter = &thumb->emitter;
	const uint32_t from = emitter->address + test;
	const uint32_t to = emitter->address + emitter->at;
	const uint32_t offset = to - (from + 4);
	uint8_t *code = emitter->code + test;

	if (branch->length == 4 && litifut_arm_ends_loop(branch->instruction))
		litifut_arm_branch_write(from, to, code);
	else if (branch->length == 4 && litifut_arm_begins_loop(branch->instruction))
		litifut_put16(false, code + 2,
			      (uint16_t)(0xc001 | (offset & 2) << 10 | (offset >> 1 & 0x7fe)));
	else
		litifut_arm_land(emitter, test, condition);
}

static void put_thumb_branch(struct thumb *thumb, const struct litifut_edge_place *place,
			     const struct litifut_edge *edge)
{
	const struct litifut_graph_block *block = place->block;
	const struct litifut_arm_displaced branch = thumb_at(place, block->block.branch);
	uint16_t condition = litifut_arm_condition(branch.instruction, branch.length);
	bool ended = false;
	unsigned test;

	if (edge->enters)
		mark(thumb, &block->block, LITIFUT_WAY_ENTERED);
	thumb->behind = edge->enters ? thumb->emitter.at : 0;
	if (block->in_block) {
		struct conditional conditional;

		find_conditional(place, &conditional);
		condition = conditional.branch;
		if (conditional.shorter)
			litifut_arm_put(&thumb->emitter, conditional.shorter);
		for (uint32_t at = edge->address + 2; at < block->block.branch;) {
			const struct litifut_arm_displaced each = thumb_at(place, at);

			move(thumb, &each);
			at += each.length;
		}
	} else if (edge->before) {
		const struct litifut_arm_displaced last = thumb_at(place, edge->address);

		move(thumb, &last);
	}
	test = put_test(thumb, &branch, condition);
	mark(thumb, &block->block, LITIFUT_WAY_PASSED);
	if (edge->after) {
		const struct litifut_arm_displaced first = thumb_at(place, block->block.end);

		ended = place->next->block.ends != LITIFUT_ENDS_ON &&
			place->next->block.branch == first.address;
		if (ended)
			put_end(thumb, place, place->next);
		else
			move(thumb, &first);
	}
	if (!ended)
		go(thumb, edge->address + edge->bytes);
	land(thumb, &branch, condition, test);
	mark(thumb, &block->block, LITIFUT_WAY_TAKEN);
	put_end(thumb, place, block);
}

static void put_thumb_entry(struct thumb *thumb, const struct litifut_edge_place *place,
			    const struct litifut_edge *edge)
{
	struct moved moved;

	gather(place, edge->address, edge->bytes, &moved);
	if (!edge->end)
		mark(thumb, &place->block->block, LITIFUT_WAY_ENTERED);
	thumb->behind = edge->end ? 0 : thumb->emitter.at;
	for (unsigned i = 0; i < moved.count - moved.with_end; i++)
		if (moved.items[i].length == 2 &&
		    litifut_arm_it_length((uint16_t)moved.items[i].instruction))
			litifut_arm_put(&thumb->emitter, (uint16_t)moved.items[i].instruction);
		else
			move(thumb, &moved.items[i]);
	if (place->context->units && (edge->end || edge->whole))
		mark(thumb, &place->block->block, LITIFUT_WAY_TAKEN);
	if (moved.with_end)
		put_end(thumb, place, place->block);
	else
		go(thumb, edge->address + moved.bytes);
}

static bool write_thumb(const struct litifut_edge_place *place, const struct litifut_edge *edge,
			uint32_t address, struct litifut_edge_code *code)
{
	struct litifut_detour *detour = &code->detour;
	struct thumb thumb = {.emitter = {.code = code->code,
					  .address = address,
					  .narrow = has_only_links(place)},
			      .links = has_only_links(place),
			      .frame = &detour->frames[0],
			      .flags = code->flags,
			      .context = place->context,
			      .bits = place->context->bits ? code->bits : NULL,
			      .free = edge->free,
			      .numbers = place->context->numbers ? code->numbers : NULL,
			      .tasks = place->context->bits ? code->tasks : NULL,
			      .interrupt = code->interrupt,
			      .spawns = code->spawns,
			      .jumps = code->jumps};

	detour->frames[0] =
		(struct litifut_frame_code){.start = address, .instruction = edge->address};
	if (edge->entry)
		put_thumb_entry(&thumb, place, edge);
	else
		put_thumb_branch(&thumb, place, edge);
	litifut_arm_put_literals(&thumb.emitter);
	code->bytes = thumb.emitter.at;
	code->behind = thumb.behind;
	code->leads = thumb.leads;
	detour->frames[0].bytes = code->bytes;
	if (thumb.far)
		return false;
	if (edge->stone_bytes) {
		struct litifut_cramped_call at = {
			.address = edge->address,
			.instruction = {.length = 2, .thumb = true},
			.section = place->section,
			.stone = edge->stone,
			.stone_bytes = edge->stone_bytes,
			.may_link = thumb.links,
		};
		const unsigned more = litifut_arm_stone_write(&at, address, address + code->bytes,
							      code->code + code->bytes, detour);

		detour->frames[1] = (struct litifut_frame_code){
			.start = address + code->bytes, .bytes = more, .instruction = edge->stone};
		code->bytes += more;
		return more != 0 && (!thumb.links || link_reaches(edge->stone, address));
	}
	detour->address = edge->address;
	detour->length = thumb_at(place, edge->address).length;
	if (detour->length == 2)
		detour->length += thumb_at(place, edge->address + 2).length;
	if (detour->length > edge->bytes)
		detour->length = edge->bytes;
	if (detour->length == 6) /* the rest of an instruction that was cut */
		litifut_put16(false, detour->code + 4, 0xbf00);
	if (!litifut_arm_branch_write(edge->address, address, detour->code))
		return false;
	if (thumb.links)
		litifut_arm_set_link(detour->code);
	return !thumb.links || link_reaches(edge->address, address);
}

/* The flags of an entry and of both ways, a return address and where a call leads. */
#define PLAIN_VALUES 5

struct plain {
	uint8_t *code;
	uint32_t address;
	unsigned at;
	uint32_t flags;
	uint32_t values[PLAIN_VALUES]; /* to be added to the pc */
	unsigned loads[PLAIN_VALUES];  /* offset of the ldr of each; an add follows */
	unsigned count;
	const struct litifut_arch_context *context;
	const uint32_t *bits; /* NULL: flags are set */
	const uint8_t *free;  /* by enum litifut_edge_way */
	uint32_t spawns;      /* see struct litifut_edge_code */
	struct litifut_frame_code *frame;
	bool far;
	bool leads; /* see struct litifut_edge_code */
};

static void put(struct plain *plain, uint32_t word)
{
	litifut_put32(false, plain->code + plain->at, word);
	plain->at += 4;
}

/* ldr rN, =value; add rN, pc, rN */
static void put_plain_value(struct plain *plain, uint32_t reg, uint32_t value)
{
	plain->values[plain->count] = value;
	plain->loads[plain->count++] = plain->at;
	put(plain, 0xe59f0000 | reg << 12);
	put(plain, 0xe08f0000 | reg << 12 | reg);
}

static void put_call_plain(struct plain *plain, uint32_t target)
{
	static const struct cpu_context context = {0};
	static const struct litifut_instruction call = {.length = 4, .word = 0xeb000000};

	plain->far |= !litifut_arm_encode_call(&context, &call, plain->address + plain->at, target,
					       plain->code + plain->at);
	plain->at += 4;
}

static void begin_calls_plain(struct plain *plain)
{
	put(plain, 0xe92d4007); /* push {r0-r2, lr} */
	note_saved(plain->frame, plain->at, 16, 1u << LR | 7);
}

static void end_calls_plain(struct plain *plain)
{
	put(plain, 0xe8bd4007); /* pop {r0-r2, lr} */
	note(plain->frame, plain->at, 0);
}

static void call_bits_plain(struct plain *plain, uint32_t target)
{
	begin_calls_plain(plain);
	put_call_plain(plain, target);
	end_calls_plain(plain);
}

static void set_flag_plain(struct plain *plain, uint32_t flag, uint8_t free)
{
	const uint32_t reg = free ? free - 1u : 0;

	if (!free) {
		put(plain, 0xe52d0004); /* push {r0} */
		note(plain->frame, plain->at, 4);
	}
	put_plain_value(plain, reg, flag);
	put(plain, 0xe5c00000 | reg << 16 | reg << 12); /* strb rN, [rN] */
	if (!free) {
		put(plain, 0xe49d0004); /* pop {r0} */
		note(plain->frame, plain->at, 0);
	}
}

static void mark_plain(struct plain *plain, const struct litifut_block *block,
		       enum litifut_edge_way way)
{
	const unsigned bit = litifut_edge_bit(plain->context, block, way);

	if (plain->bits) {
		if (bit < 2 && plain->free[way] >= FREE_PAIR)
			put_call_plain(plain, free_code(plain->bits, bit, plain->free[way]));
		else if (bit < 2 && plain->free[way])
			call_bits_plain(plain, free_code(plain->bits, bit, plain->free[way]));
		else if (bit == LITIFUT_ENTERED_NUMBER) {
			begin_calls_plain(plain);
			put_call_plain(plain, plain->bits[bit]);
			put(plain, number_word(block));
			end_calls_plain(plain);
		} else if (bit != LITIFUT_BIT_NONE)
			call_bits_plain(plain, plain->bits[bit]);
		return;
	}
	set_flag_plain(plain, plain->flags + litifut_edge_flag(block, way), plain->free[way]);
}

static void go_plain(struct plain *plain, uint32_t condition, uint32_t target)
{
	plain->far |= !litifut_arm_put_plain_branch(condition, plain->address + plain->at, target,
						    plain->code + plain->at);
	plain->at += 4;
}

/* add pc, pc, rN, lsl #2 of another place, or ldr pc, [pc, rN, lsl #2] */
static void put_plain_switch(struct plain *plain, uint32_t word, uint32_t address)
{
	const uint32_t reg = word & 15;
	const uint32_t scratch = reg == 0;

	put(plain, 0xe24dd004); /* sub sp, sp, #4 */
	note(plain->frame, plain->at, 4);
	put(plain, 0xe52d0004 | scratch << 12); /* push {rS} */
	note(plain->frame, plain->at, 8);
	put_plain_value(plain, scratch, address + 8);
	/* ldr rS, [rS, rN, lsl #2]; or add rS, rS, rN, lsl #2 */
	put(plain,
	    (reads_table(word) ? 0xe7900100 : 0xe0800100) | scratch << 16 | scratch << 12 | reg);
	put(plain, 0xe58d0004 | scratch << 12); /* str rS, [sp, #4] */
	put(plain, 0xe8bd8000 | 1u << scratch); /* pop {rS, pc} */
	note(plain->frame, plain->at, 0);
}

/* To T32 code, by the stack, as each register may hold something. */
static void go_thumb(struct plain *plain, uint32_t target)
{
	put(plain, 0xe24dd004); /* sub sp, sp, #4 */
	note(plain->frame, plain->at, 4);
	put(plain, 0xe52d0004); /* push {r0} */
	note(plain->frame, plain->at, 8);
	put_plain_value(plain, 0, target);
	put(plain, 0xe58d0004); /* str r0, [sp, #4] */
	put(plain, 0xe8bd8001); /* pop {r0, pc} */
	note(plain->frame, plain->at, 0);
}

static void put_plain_end(struct plain *plain, const struct litifut_edge_place *place)
{
	const struct litifut_block *block = &place->block->block;
	const uint32_t word = litifut_get32(false, code_at(place, block->branch));
	const uint32_t target = place->target;

	plain->leads = true;
	if (place->block->spawns && plain->bits)
		call_bits_plain(plain, plain->spawns);
	switch (block->ends) {
	case LITIFUT_ENDS_BRANCH:
		go_plain(plain, ALWAYS, target);
		break;
	case LITIFUT_ENDS_CALL:
		put_plain_value(plain, LR, block->branch + 4);
		if (target & 1)
			go_thumb(plain, target);
		else if (target)
			go_plain(plain, ALWAYS, target);
		else
			put(plain, 0xe12fff10 | (word & 15)); /* bx rN */
		break;
	default:
		if (is_plain_switch(place))
			put_plain_switch(plain, word, block->branch);
		else
			put(plain, (word & 0x0fffffff) | ALWAYS);
		break;
	}
}

static void put_plain_values(struct plain *plain)
{
	for (unsigned i = 0; i < plain->count; i++) {
		uint8_t *load = plain->code + plain->loads[i];

		litifut_put32(false, load,
			      litifut_get32(false, load) | (plain->at - (plain->loads[i] + 8)));
		put(plain, plain->values[i] - (plain->address + plain->loads[i] + 4 + 8));
	}
}

static bool write_plain(const struct litifut_edge_place *place, const struct litifut_edge *edge,
			uint32_t address, struct litifut_edge_code *code)
{
	const struct litifut_block *block = &place->block->block;
	const uint32_t word = litifut_get32(false, code_at(place, edge->address));
	struct litifut_detour *detour = &code->detour;
	struct plain plain = {.code = code->code,
			      .address = address,
			      .flags = code->flags,
			      .context = place->context,
			      .bits = place->context->bits ? code->bits : NULL,
			      .free = edge->free,
			      .spawns = code->spawns,
			      .frame = &detour->frames[0]};

	detour->frames[0] =
		(struct litifut_frame_code){.start = address, .instruction = edge->address};
	code->behind = 0;
	if (!edge->entry) {
		unsigned test;

		if (edge->enters)
			mark_plain(&plain, block, LITIFUT_WAY_ENTERED);
		code->behind = plain.at;
		test = plain.at;
		put(&plain, 0);
		mark_plain(&plain, block, LITIFUT_WAY_PASSED);
		go_plain(&plain, ALWAYS, block->end);
		litifut_arm_put_plain_branch(word & 0xf0000000, address + test, address + plain.at,
					     plain.code + test);
		mark_plain(&plain, block, LITIFUT_WAY_TAKEN);
		put_plain_end(&plain, place);
	} else {
		if (!edge->end) {
			mark_plain(&plain, block, LITIFUT_WAY_ENTERED);
			code->behind = plain.at;
		}
		if (place->context->units && (edge->end || edge->whole))
			mark_plain(&plain, block, LITIFUT_WAY_TAKEN);
		if (block->branch == edge->address &&
		    (block->ends == LITIFUT_ENDS_CALL || edge->end || edge->whole))
			put_plain_end(&plain, place);
		else
			plain.far |= !litifut_arm_move_plain(word, edge->address, address,
							     plain.code, &plain.at, false);
	}
	put_plain_values(&plain);
	code->leads = plain.leads;
	code->bytes = plain.at;
	detour->frames[0].bytes = code->bytes;
	detour->address = edge->address;
	detour->length = 4;
	return !plain.far &&
	       litifut_arm_put_plain_branch(ALWAYS, edge->address, address, detour->code);
}

static bool write_edge(const struct litifut_edge_place *place, const struct litifut_edge *edge,
		       uint32_t address, struct litifut_edge_code *code)
{
	memset(&code->detour, 0, sizeof(code->detour));
	return place->block->block.flags & LITIFUT_BLOCK_THUMB
		       ? write_thumb(place, edge, address, code)
		       : write_plain(place, edge, address, code);
}

/* A32 `add pc, pc, rN, lsl #2`: one instruction for numbers that are too large follows, and then a
 * branch for each other one. Labels them; false: the jump is of another form. */
static bool label_branches(const struct litifut_image *image, struct litifut_graph *graph,
			   size_t number, size_t end)
{
	const struct litifut_graph_block *block = &graph->items[number];
	const struct litifut_section *section = &image->sections[block->section];
	const uint32_t jump = block->block.branch;
	const uint32_t word = litifut_get32(false, section->bytes + (jump - section->address));
	bool found = false;

	if (block->block.flags & LITIFUT_BLOCK_THUMB || !skips_branches(word))
		return false;
	for (uint32_t at = jump + 8; number + 1 < end; at += 4) {
		struct litifut_graph_block *each = &graph->items[++number];

		if (each->block.start < at) {
			at -= 4;
			continue;
		}
		if (each->block.start != at || each->block.branch != at ||
		    each->block.ends != LITIFUT_ENDS_BRANCH ||
		    each->block.flags & LITIFUT_BLOCK_CONDITIONAL)
			break;
		each->block.flags |= LITIFUT_BLOCK_LABEL;
		found = true;
	}
	return found;
}

/* A32 `add pc, pc, rN`: it skips so many bytes of what follows, and no table holds where it ends.
 * glibc's memcpy enters its last copies so. */
static bool skips_code(const struct litifut_image *image, const struct litifut_graph_block *block)
{
	const struct litifut_section *section = &image->sections[block->section];

	return !(block->block.flags & LITIFUT_BLOCK_THUMB) &&
	       (litifut_get32(false, section->bytes + (block->block.branch - section->address)) &
		0x0ffff010) == 0x008ff000;
}

/* Does the jump at the end of the block lead through the table after it, or out of the function? */
static bool is_explained(const struct litifut_image *image,
			 const struct litifut_arch_context *context,
			 const struct litifut_graph *graph, const struct litifut_graph_block *block)
{
	const struct litifut_symbol *function = &image->symbols[block->function - 1];
	const struct litifut_section *section = &image->sections[block->section];
	const bool thumb = block->block.flags & LITIFUT_BLOCK_THUMB;
	struct litifut_cramped_call call = {
		.address = block->block.branch,
		.tail = true,
		.section = section,
		.function_start = function->address,
		.function_end = litifut_image_function_end(image, function),
		.before = {block->last},
	};

	litifut_arm_decode(&context->cpu, section->bytes + (call.address - section->address),
			   block->length, call.address,
			   thumb ? LITIFUT_CODE_THUMB : LITIFUT_CODE_PLAIN, &call.instruction);
	/* tbb and tbh have no class */
	return (thumb && block->length == 4 && call.instruction.class == LITIFUT_CLASS_OTHER) ||
	       (call.instruction.class != LITIFUT_CLASS_OTHER &&
		litifut_arm_is_indirect_tail(image, context, &call, &graph->labels));
}

/* Is it a switch of Thumb-1 code (table_call.h), or does it look like one by the name of what it
 * calls? */
static bool is_table_call(const struct litifut_image *image,
			  const struct litifut_arch_context *context,
			  const struct litifut_graph_block *block)
{
	const struct litifut_block *at = &block->block;
	struct litifut_arm_table_call call;
	const struct litifut_symbol *callee;

	if (at->ends != LITIFUT_ENDS_CALL || !at->target || !(at->flags & LITIFUT_BLOCK_THUMB))
		return false;
	callee = litifut_image_function_start(image, at->target & ~1u);
	if (callee && strstr(callee->name, LITIFUT_ARM_TABLE_HELPER))
		return true;
	return litifut_arm_short_branches(&context->cpu) &&
	       litifut_arm_table_call(image, &image->sections[block->section], at->branch, &call);
}

/* Makes a jump to the labels in the table of the switch at the end of the block. False: they are
 * not known. */
static bool follow_table(const struct litifut_image *image, struct litifut_graph *graph,
			 size_t number)
{
	struct litifut_graph_block *block = &graph->items[number];

	if (!litifut_arm_follows_table(image, graph, number))
		return false;
	block->block.ends = LITIFUT_ENDS_JUMP;
	block->block.target = 0;
	/* what fills up to a table of words */
	if (number + 1 < graph->count && block[1].block.start == block->block.end)
		block[1].led_to = block[1].behind_call = false;
	return true;
}

/* Is the `bx lr` at the end of the block not a return, but a switch whose register lr is? */
static bool is_switch_by_link(const struct litifut_image *image,
			      const struct litifut_graph_block *block)
{
	return block->block.ends == LITIFUT_ENDS_RETURN &&
	       block->block.flags & LITIFUT_BLOCK_THUMB && block->length == 2 &&
	       litifut_arm_begins_table(&image->sections[block->section],
					&image->symbols[block->function - 1],
					(block->block.end + 3) & ~3u);
}

/* Where a jump leads whose numbers are known are labels, unless its own code records which of them
 * it leads to. */
static void label_places(const struct litifut_arch_context *context, struct litifut_graph *graph,
			 size_t number, const struct litifut_arm_scaled *jump)
{
	struct litifut_graph_block *from = &graph->items[number];

	if (from->block.flags & LITIFUT_BLOCK_THUMB && litifut_edges_skip_records(context))
		from->jump_register = (uint8_t)(jump->reg + 1);
	for (int64_t i = jump->first; i <= jump->last; i++) {
		const uint32_t address = jump->base + (uint32_t)i * jump->step;

		if (litifut_arm_scaled_is_own(jump, from, address))
			continue;
		litifut_targets_add(&graph->targets, address);
		litifut_graph_at(graph, address)->unreached = false;
		if (!from->jump_register)
			litifut_graph_at(graph, address)->block.flags |= LITIFUT_BLOCK_LABEL;
	}
}

/* In T32 code neighbours move, so all that leads between them must be known; in all code, what is
 * executed follows from what leads there. Where neither data nor a table has a label in the
 * function, a jump may lead anywhere, and so may one to an address and a number of which the code
 * does not show how large it is (scaled_jump.h). */
static unsigned judge_function(const struct litifut_image *image,
			       const struct litifut_arch_context *context,
			       struct litifut_graph *graph, size_t first, size_t end)
{
	bool labels = false;
	bool jumps = false;

	if (litifut_arm_is_table_helper(image, graph->items[first].block.start))
		return LITIFUT_SITE_UNKNOWN_JUMP;
	for (size_t i = first; i < end; i++) {
		if (is_table_call(image, context, &graph->items[i]) &&
		    !follow_table(image, graph, i))
			return LITIFUT_SITE_UNKNOWN_JUMP;
		labels |= (graph->items[i].block.flags & LITIFUT_BLOCK_LABEL) != 0;
	}
	for (size_t i = first; i < end; i++) {
		struct litifut_arm_scaled scaled;

		if (is_switch_by_link(image, &graph->items[i]))
			graph->items[i].block.ends = LITIFUT_ENDS_JUMP;
		if (graph->items[i].block.ends != LITIFUT_ENDS_JUMP)
			continue;
		if (label_branches(image, graph, i, end)) {
			labels = true;
			continue;
		}
		switch (litifut_arm_scaled_jump(image, graph, i, &scaled)) {
		case LITIFUT_ARM_SCALED_KNOWN:
			label_places(context, graph, i, &scaled);
			break;
		case LITIFUT_ARM_SCALED_UNKNOWN:
			return LITIFUT_SITE_UNKNOWN_JUMP;
		default:
			if (skips_code(image, &graph->items[i]))
				return LITIFUT_SITE_UNKNOWN_JUMP;
			jumps |= !labels && !is_explained(image, context, graph, &graph->items[i]);
			break;
		}
	}
	return jumps && !labels ? LITIFUT_SITE_UNKNOWN_JUMP : LITIFUT_SITE_PATCHED;
}

/* tbb and tbh, whose table holds distances from the next instruction, and of A32 code the jumps
 * that is_plain_switch() has. */
static bool reads_own_table(const struct litifut_edge_place *place)
{
	const struct litifut_block *block = &place->block->block;
	const struct litifut_arm_displaced jump = block->flags & LITIFUT_BLOCK_THUMB
							  ? thumb_at(place, block->branch)
							  : (struct litifut_arm_displaced){0};

	return jump.length ? jump.length == 4 && (jump.instruction & 0xfff0ffe0) == 0xe8d0f000
			   : is_plain_switch(place);
}

/* The start of a block need not be recorded at its first instruction. */
static bool join(const struct litifut_edge_place *place, struct litifut_edge *edge)
{
	if (has_only_links(place))
		return !edge->stone_bytes;
	if (edge->address != entry_of(place, edge))
		return false;
	edge->enters = true;
	find_free(place, edge);
	return true;
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
		     : litifut_arm_put_plain_branch(ALWAYS, block->branch, place->target, code);
}

const struct litifut_arch_edges litifut_arm_edges = {
	.join = join,
	.reads_table = reads_own_table,
	.add_addresses = litifut_arm_add_addresses,
	.may_call = litifut_arm_may_call,
	.refuses_bits = litifut_arm_refuses_bits,
	.judge_function = judge_function,
	.judge_branch = judge_branch,
	.judge_entry = judge_entry,
	.write = write_edge,
	.lead = lead,
	.bytes_max = LITIFUT_EDGE_BYTES_MAX,
};
