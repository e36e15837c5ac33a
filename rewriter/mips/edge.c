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
 * More than 500 lines in one file, because what is judged and what is written must agree on each
 * form. */
#include "rewriter/mips/edge.h"

#include <litifut/thunk_abi.h>
#include <string.h>

#include "cpu/mips/uses.h"
#include "cpu/step.h"
#include "rewriter/exits.h"
#include "rewriter/mips/called.h"
#include "rewriter/mips/dead.h"

enum { AT = 1, GP = 28, SP = 29, RA = LITIFUT_MIPS_RA };

#define NOP 0u
#define JR_AT 0x00200008u
#define WAYS 256

static uint32_t word_at(const struct litifut_edge_place *place, uint32_t address)
{
	return litifut_mips_word_at(place, address);
}

uint32_t litifut_mips_dead_at(const struct litifut_edge_place *place, uint32_t address)
{
	const uint32_t section_end = place->section->address + place->section->size;
	const uint32_t start = place->image->symbols[place->block->function - 1].address;
	const uint32_t end = place->function_end < section_end ? place->function_end : section_end;
	const uint32_t text = place->image->text_start;
	struct litifut_edge_dead once = {0};
	struct litifut_edge_dead *known =
		place->dead && !(address & 3) && address - text < place->image->text_end - text
			? &place->dead[(address - text) / 4]
			: &once;

	if (known->start != start || known->end != end)
		*known = (struct litifut_edge_dead){
			start, end,
			litifut_mips_dead(place->context, place->section, start, end, address)};
	return known->dead;
}

uint32_t litifut_mips_named_by(uint32_t word)
{
	const struct litifut_mips_uses uses = litifut_mips_uses(word);

	return uses.reads | uses.writes;
}

/* Judged by the fields of the word, so it may be true too often; sc reads what it writes. */
static bool reads_at(uint32_t word)
{
	return litifut_mips_may_read_at(word) || (word >> 26 == 0x38 && (word >> 16 & 31) == AT);
}

static bool names_at(uint32_t word)
{
	return reads_at(word) || litifut_mips_writes(word, AT);
}

/* The blocks that are still to be looked at. */
struct ways {
	uint32_t seen[WAYS];
	unsigned count;
	unsigned done;
	bool failed;
};

static void add_way(struct ways *ways, uint32_t address)
{
	for (unsigned i = 0; i < ways->count; i++)
		if (ways->seen[i] == address)
			return;
	if (ways->count == WAYS)
		ways->failed = true;
	else
		ways->seen[ways->count++] = address;
}

/* Looks at a block up to where $at is written. */
static void follow(const struct litifut_edge_place *place, uint32_t address, struct ways *ways)
{
	const struct litifut_graph_block *block = litifut_graph_at(place->graph, address);

	/* another function's, or one that was left out: nothing lives in $at there */
	if (!block)
		return;
	for (uint32_t at = block->block.start; at < block->block.end; at += 4) {
		const uint32_t word = word_at(place, at);

		if (reads_at(word)) {
			ways->failed = true;
			return;
		}
		if (litifut_mips_sets_at(word) && !(block->likely && at > block->block.branch))
			return;
	}
	if (block->block.ends == LITIFUT_ENDS_BRANCH)
		add_way(ways, block->block.target);
	if (block->block.ends == LITIFUT_ENDS_ON ||
	    (block->block.ends == LITIFUT_ENDS_BRANCH &&
	     block->block.flags & LITIFUT_BLOCK_CONDITIONAL))
		add_way(ways, block->block.end);
}

/* Is the value of $at at the start of this block dead? It does not live across calls. */
static bool at_is_free(const struct litifut_edge_place *place, uint32_t address)
{
	struct ways ways;

	if (!place->block->scratch_lives)
		return true;
	ways.seen[0] = address;
	ways.count = 1;
	ways.done = 0;
	ways.failed = false;
	while (ways.done < ways.count && !ways.failed)
		follow(place, ways.seen[ways.done++], &ways);
	return !ways.failed;
}

/* Is $at read in the block before it is written? */
static bool reads_at_first(const struct litifut_edge_place *place,
			   const struct litifut_graph_block *block)
{
	for (uint32_t at = block->block.start; at < block->block.end; at += 4) {
		const uint32_t word = word_at(place, at);

		if (reads_at(word))
			return true;
		if (litifut_mips_sets_at(word) && !(block->likely && at > block->block.branch))
			return false;
	}
	return false;
}

/* Do jumps of the function lead by tables that were not looked at, as they are relative to a global
 * pointer of its own? */
static bool has_other_tables(const struct litifut_arch_context *context)
{
	return context->bits && context->cpu.position_independent &&
	       !litifut_mips_facts(context)->got.alone;
}

/* Is the jump by $at of this block a branch that was too far for one, and has no target that was
 * found? Clang makes the jumps of switches by $at as well: there it holds a word of a table, or the
 * sum of one and the global pointer. */
static bool is_far_branch(const struct litifut_edge_place *place,
			  const struct litifut_graph_block *block)
{
	for (uint32_t at = block->block.branch; at > block->block.start;) {
		const uint32_t word = word_at(place, at -= 4);
		const unsigned left = word >> 21 & 31;
		const unsigned right = word >> 16 & 31;

		if (!litifut_mips_writes(word, AT))
			continue;
		if (word >> 26 == 0x23) /* lw */
			return left == SP || left == GP;
		return (word & 0xfc0007ff) != 0x21 || !left || !right || left == RA || right == RA;
	}
	return true;
}

/* May control enter the function, or leave the middle of a block, in a way that the graph does not
 * have? Where data has labels of the function, its jumps lead to these: all words of the data are
 * taken for entries of tables. A call into the function itself reads the pc, and data may follow.
 */
static bool is_unknown(const struct litifut_edge_place *place,
		       const struct litifut_graph_block *block, uint32_t start, uint32_t end,
		       bool labels)
{
	const uint32_t target = block->block.target;

	switch (block->block.ends) {
	case LITIFUT_ENDS_CALL:
		return target > start && target < end;
	case LITIFUT_ENDS_JUMP:
		if ((word_at(place, block->block.branch) >> 21 & 31) == AT &&
		    is_far_branch(place, block))
			return true;
		return (!labels || has_other_tables(place->context)) &&
		       (word_at(place, block->block.branch) >> 21 & 31) != LITIFUT_MIPS_T9;
	default:
		return false;
	}
}

static unsigned judge_function(const struct litifut_image *image,
			       const struct litifut_arch_context *context,
			       struct litifut_graph *graph, size_t first, size_t end)
{
	const struct litifut_graph_block *items = graph->items;
	const struct litifut_symbol *function = &image->symbols[items[first].function - 1];
	const struct litifut_section *section = &image->sections[items[first].section];
	const struct litifut_edge_place place = {.context = context, .section = section};
	const uint32_t behind = items[end - 1].block.end;
	bool lives = false;
	bool labels = false;
	bool unknown = false;

	if (function->address & 3)
		return LITIFUT_SITE_UNKNOWN_JUMP;
	for (size_t i = first; i < end; i++) {
		lives = lives || reads_at_first(&place, &items[i]);
		labels |= (items[i].block.flags & LITIFUT_BLOCK_LABEL) != 0;
	}
	for (size_t i = first; i < end; i++) {
		graph->items[i].scratch_lives = lives;
		unknown |= is_unknown(&place, &items[i], function->address, behind, labels);
	}
	return unknown ? LITIFUT_SITE_UNKNOWN_JUMP : LITIFUT_SITE_PATCHED;
}

static bool is_target(const struct litifut_edge_place *place, uint32_t address)
{
	return litifut_targets_has(&place->graph->targets, address);
}

bool litifut_mips_comes_first(const struct litifut_graph_block *block, uint32_t branch,
			      uint32_t slot)
{
	const unsigned operation = branch >> 26;

	if (slot == NOP)
		return true;
	if (block->likely || operation == 0x11 || operation == 0x12)
		return false;
	return !litifut_mips_writes(slot, branch >> 21 & 31) &&
	       !(operation == 0x04 || operation == 0x05
			 ? litifut_mips_writes(slot, branch >> 16 & 31)
			 : false);
}

/* What looks like a label may be a delay slot, which is executed with what stands before it. */
static bool is_slot(const struct litifut_edge_place *place, uint32_t address)
{
	struct cpu_step step;
	unsigned block = 0;

	return address - place->section->address >= 4 &&
	       litifut_mips_step(&place->context->cpu,
				 place->section->bytes + (address - 4 - place->section->address), 4,
				 address - 4, LITIFUT_CODE_PLAIN, &block, &step) &&
	       step.slot;
}

/* Does control come to the middle of these bytes? */
static bool has_target(const struct litifut_edge_place *place, uint32_t start, uint32_t end)
{
	for (uint32_t at = start + 4; at < end; at += 4)
		if (is_target(place, at))
			return true;
	return false;
}

#define WHOLE_MOST 32 /* bytes before a branch */

/* A branch that reads $at, as that of an atomic operation does, whose start has room for a number:
 * all of its block may move, where nothing in $at lives at its start. No instruction comes between
 * an exclusive load and its store then that was not there before. */
static bool takes_whole(const struct litifut_edge_place *place, struct litifut_edge *edge)
{
	const struct litifut_block *block = &place->block->block;
	const uint32_t start = block->start;

	if (start == block->branch || block->branch - start > WHOLE_MOST || is_slot(place, start) ||
	    has_target(place, start, block->branch + 8) ||
	    !litifut_edge_is_free(place, start, block->branch + 8 - start) ||
	    !at_is_free(place, start))
		return false;
	for (uint32_t at = start; at < block->branch; at += 4) {
		const uint32_t word = word_at(place, at);

		if (!litifut_mips_can_move(word) && !litifut_mips_is_exclusive(word))
			return false;
	}
	edge->address = start;
	edge->before = (uint8_t)(block->branch - start);
	return true;
}

static unsigned judge_branch_place(const struct litifut_edge_place *place,
				   struct litifut_edge *edge)
{
	const struct litifut_graph_block *block = place->block;
	const uint32_t branch = block->block.branch;
	uint32_t slot;

	edge->address = branch;
	edge->bytes = 8;
	/* the code of a way always records something, and that of a unit would not */
	if (block->block.ends != LITIFUT_ENDS_BRANCH || place->context->units)
		return LITIFUT_SITE_SPECIAL_FORM;
	if (branch + 8 > place->function_end && place->function_end > branch)
		return LITIFUT_SITE_SPECIAL_FORM;
	slot = word_at(place, branch + 4);
	if (!litifut_mips_can_move(slot))
		return LITIFUT_SITE_DELAY_SLOT;
	if (!at_is_free(place, block->block.target) || !at_is_free(place, block->block.end))
		return LITIFUT_SITE_SPECIAL_CALLEE;
	if (place->context->bits && (names_at(word_at(place, branch)) || names_at(slot))) {
		if (takes_whole(place, edge))
			return LITIFUT_SITE_PATCHED;
		/* the number of an island may come before the test; then the function is of no use
		 */
		if (place->context->cpu.position_independent)
			return LITIFUT_SITE_SPECIAL_CALLEE;
	}
	if (is_target(place, branch + 4)) {
		edge->bytes = 4; /* it stays */
		if (!litifut_mips_comes_first(block, word_at(place, branch), slot))
			return LITIFUT_SITE_BRANCH_TARGET;
	}
	return litifut_edge_is_free(place, branch, edge->bytes) ? LITIFUT_SITE_PATCHED
								: LITIFUT_SITE_BRANCH_TARGET;
}

static void find_free(const struct litifut_edge_place *place, struct litifut_edge *edge)
{
	if (!place->context->bits)
		litifut_mips_find_free_for_flags(place, edge);
	else if (!place->context->units)
		litifut_mips_find_free_for_bits(place, edge);
}

static unsigned judge_branch(const struct litifut_edge_place *place, struct litifut_edge *edge)
{
	const unsigned reason = judge_branch_place(place, edge);

	if (reason == LITIFUT_SITE_PATCHED)
		find_free(place, edge);
	return reason;
}

/* May the instruction name the register, in whatever field? */
static bool may_name(uint32_t word, unsigned reg)
{
	return (word >> 21 & 31) == reg || (word >> 16 & 31) == reg ||
	       (word >> 26 == 0 && (word >> 11 & 31) == reg);
}

/* Does the instruction read and write nothing but general registers and memory? */
static bool is_simple(uint32_t word)
{
	const unsigned operation = word >> 26;
	const unsigned function = word & 0x3f;

	if (operation == 0)
		return function < 0x08 || function == 0x0a || function == 0x0b ||
		       (function >= 0x20 && function <= 0x2b);
	return (operation >= 0x08 && operation <= 0x0f) ||
	       (operation >= 0x20 && operation <= 0x2b) || operation == 0x2e;
}

/* Of two that are simple: is what the second does the same before the first? */
static bool is_independent(uint32_t first, uint32_t second)
{
	const bool stores = first >> 26 >= 0x28 || second >> 26 >= 0x28;
	const bool both = first >> 26 >= 0x20 && second >> 26 >= 0x20;

	if (stores && both)
		return false;
	for (unsigned reg = 1; reg < 32; reg++)
		if ((litifut_mips_writes(first, reg) && may_name(second, reg)) ||
		    (litifut_mips_writes(second, reg) && may_name(first, reg)))
			return false;
	return true;
}

/* A block of one instruction, which may move, and goes on in the next one. */
static bool is_tight(const struct litifut_edge_place *place)
{
	const struct litifut_graph_block *block = place->block;
	const struct litifut_graph_block *next = place->next;
	const uint32_t start = block->block.start;
	uint32_t first;

	if (!place->context->bits || block->block.ends != LITIFUT_ENDS_ON ||
	    block->block.end - start != 4 || !next || next->function != block->function ||
	    start + 8 > place->function_end || is_slot(place, start) ||
	    !litifut_edge_is_free(place, start, 4))
		return false;
	first = word_at(place, start);
	return litifut_mips_can_move(first) && !names_at(first) && at_is_free(place, start);
}

/* Of such a block: may the first instruction of the next one be executed before it? */
static bool can_turn(const struct litifut_edge_place *place)
{
	const uint32_t start = place->block->block.start;
	const uint32_t first = word_at(place, start);
	const uint32_t second = word_at(place, start + 4);

	return litifut_edge_is_free(place, start + 4, 4) && is_simple(first) && is_simple(second) &&
	       litifut_mips_can_move(second) && is_independent(first, second) && !names_at(second);
}

/* Room for the entry of such a block, from the next one. */
static bool take_next(const struct litifut_edge_place *place, struct litifut_edge *edge)
{
	const bool turns = can_turn(place);

	if (!turns && !place->may_shift)
		return false;
	edge->after = 4;
	edge->shifts = place->may_shift && (place->far || place->next_wanted || !turns);
	edge->near = !edge->shifts; /* the slot has no room for the number that an island needs */
	edge->borrows = edge->near && place->far;
	return true;
}

static bool any_names_at(const struct litifut_edge_place *place, uint32_t start, uint32_t end)
{
	for (uint32_t at = start; at < end; at += 4)
		if (names_at(word_at(place, at)))
			return true;
	return false;
}

static bool all_can_move(const struct litifut_edge_place *place, uint32_t start, uint32_t end)
{
	for (uint32_t at = start; at < end; at += 4)
		if (!litifut_mips_can_move(word_at(place, at)))
			return false;
	return true;
}

static unsigned judge_entry_place(const struct litifut_edge_place *place, struct litifut_edge *edge)
{
	const struct litifut_block *block = &place->block->block;
	const uint8_t shift = edge->end || edge->whole ? 0 : place->block->shift;
	const uint32_t start = edge->end ? block->branch : block->start;
	const uint32_t end = start + 8 + shift;
	const bool ends = block->ends != LITIFUT_ENDS_ON && block->branch < end;
	const bool slot = ends && block->ends != LITIFUT_ENDS_STOP;

	edge->address = start;
	edge->bytes = 8 + shift;
	edge->shift = shift;
	if ((edge->whole && !ends) ||
	    (edge->end && edge->needed && block->ends == LITIFUT_ENDS_CALL))
		return LITIFUT_SITE_SPECIAL_FORM;
	if (edge->needed && !edge->end && !shift && is_tight(place) && take_next(place, edge))
		return LITIFUT_SITE_PATCHED;
	if (place->far && block->end < end)
		return LITIFUT_SITE_OUT_OF_REACH;
	if (block->end < end || is_slot(place, start) || has_target(place, start, end) ||
	    !litifut_edge_is_free(place, start, edge->bytes))
		return LITIFUT_SITE_BRANCH_TARGET;
	if (ends && (block->flags & LITIFUT_BLOCK_CONDITIONAL || block->end > place->function_end))
		return LITIFUT_SITE_SPECIAL_FORM;
	if (block->ends == LITIFUT_ENDS_STOP && (edge->whole || edge->end))
		return LITIFUT_SITE_SPECIAL_FORM;
	/* jalr into another register, and barriers */
	if (ends && !block->target && word_at(place, block->branch) >> 26 == 0 &&
	    (litifut_mips_has_barrier(word_at(place, block->branch)) ||
	     (block->ends == LITIFUT_ENDS_CALL &&
	      ((word_at(place, block->branch) >> 11 & 31) != RA ||
	       (word_at(place, block->branch) >> 21 & 31) == RA))))
		return LITIFUT_SITE_SPECIAL_FORM;
	if (slot &&
	    (block->target & 1 || !litifut_mips_can_move(word_at(place, block->branch + 4))))
		return LITIFUT_SITE_SPECIAL_FORM;
	if (any_names_at(place, start, end) ||
	    (slot && names_at(word_at(place, block->branch + 4))) || !at_is_free(place, start))
		return LITIFUT_SITE_SPECIAL_CALLEE;
	return all_can_move(place, start, ends ? block->branch : end) ? LITIFUT_SITE_PATCHED
								      : LITIFUT_SITE_SPECIAL_FORM;
}

static unsigned judge_entry(const struct litifut_edge_place *place, struct litifut_edge *edge)
{
	const unsigned reason = judge_entry_place(place, edge);

	if (reason == LITIFUT_SITE_PATCHED)
		find_free(place, edge);
	return reason;
}

/* One instruction before the branch may move along, or all have already; two where the start of the
 * block makes room. */
static bool may_join(const struct litifut_edge_place *place, struct litifut_edge *edge)
{
	const struct litifut_block *block = &place->block->block;
	const uint8_t shift = place->block->shift;
	const uint32_t before = block->branch - block->start;

	if (edge->before) {
		edge->shift = shift;
		edge->bytes = 8 + shift;
		return before >= shift;
	}
	if (names_at(word_at(place, block->branch)) ||
	    names_at(word_at(place, block->branch + 4)) || is_slot(place, block->start) ||
	    !at_is_free(place, block->start))
		return false;
	if (!before)
		return !shift;
	if (before > 4u + shift || edge->bytes != 8 ||
	    has_target(place, block->start, block->branch + 4) ||
	    !litifut_edge_is_free(place, block->start, before) ||
	    !all_can_move(place, block->start, block->branch) ||
	    any_names_at(place, block->start, block->branch))
		return false;
	edge->address = block->start;
	edge->before = (uint8_t)before;
	edge->shift = shift;
	edge->bytes = 8 + shift;
	return true;
}

static bool join(const struct litifut_edge_place *place, struct litifut_edge *edge)
{
	if (!may_join(place, edge))
		return false;
	edge->enters = true;
	find_free(place, edge);
	return true;
}

void litifut_mips_note(struct litifut_mips_emitter *emitter, unsigned stack, uint32_t saved)
{
	litifut_frame_note_saved(&emitter->code->detour.frames[0], 4 * emitter->count, stack,
				 saved);
}

void litifut_mips_put_link(struct litifut_mips_emitter *emitter, uint32_t target)
{
	const uint32_t call = litifut_mips_jump(&emitter->place->context->cpu, true,
						litifut_mips_here(emitter), target);

	emitter->failed |= !call;
	litifut_mips_put(emitter, call);
}

/* With a `target` of 0, control goes on after the edge. */
static void put_bits_call(struct litifut_mips_emitter *emitter, uint32_t code, uint32_t target)
{
	litifut_mips_put(emitter, 0x27bdfff0); /* addiu sp, sp, -16 */
	litifut_mips_put(emitter, 0xafbf000c); /* sw ra, 12(sp) */
	litifut_mips_note(emitter, 16, 1u << RA);
	litifut_mips_put_link(emitter, code);
	litifut_mips_put(emitter, 0xafa30008); /* sw v1, 8(sp) */
	litifut_mips_put(emitter, (target ? target : litifut_mips_here(emitter) + 4) -
					  litifut_mips_here(emitter));
	litifut_mips_note(emitter, 0, 0);
}

/* The same, with a second word for the number. */
static void put_number_call(struct litifut_mips_emitter *emitter, uint32_t entered, uint32_t target)
{
	put_bits_call(emitter, emitter->code->bits[LITIFUT_ENTERED_NUMBER],
		      target ? target : litifut_mips_here(emitter) + 24);
	litifut_mips_put(emitter, LITIFUT_ENTERED_BITS(entered) | LITIFUT_ENTERED_NUMBER_OF(entered)
									  << 8);
}

static void put_bits_edge(struct litifut_mips_emitter *emitter, enum litifut_edge_way way,
			  uint32_t target)
{
	const struct litifut_block *block = &emitter->place->block->block;
	const unsigned bit = litifut_edge_bit(emitter->place->context, block, way);

	if (bit == LITIFUT_ENTERED_NUMBER)
		put_number_call(emitter, block->entered, target);
	else if (bit != LITIFUT_BIT_NONE)
		put_bits_call(emitter, emitter->code->bits[bit], target);
}

static void put_edge(struct litifut_mips_emitter *emitter, enum litifut_edge_way way,
		     uint32_t target)
{
	const struct litifut_block *block = &emitter->place->block->block;

	if (emitter->place->context->bits)
		put_bits_edge(emitter, way, target);
	else
		litifut_mips_put_flag(emitter, emitter->edge->free[way],
				      litifut_edge_flag(block, way), target);
}

/* Calls what the block calls, with the return address that it would leave. */
static void put_call(struct litifut_mips_emitter *emitter, uint32_t slot)
{
	const struct litifut_block *block = &emitter->place->block->block;
	const uint32_t back = block->branch + 8;
	const uint32_t word = word_at(emitter->place, block->branch);
	const uint32_t distance = back - (litifut_mips_here(emitter) + 8);

	litifut_mips_put(emitter, 0x04110001); /* bal .+8 */
	litifut_mips_put(emitter, 0x3c010000 | litifut_mips_high(distance));
	litifut_mips_put(emitter, 0x24210000 | (distance & 0xffff));
	litifut_mips_put(emitter, 0x003ff821); /* addu ra, at, ra */
	if (block->target) {
		const uint32_t far = emitter->place->target - back;

		litifut_mips_put(emitter, 0x3c010000 | litifut_mips_high(far));
		litifut_mips_put(emitter, 0x24210000 | (far & 0xffff));
		litifut_mips_put(emitter, 0x003f0821); /* addu at, at, ra */
		litifut_mips_put(emitter, JR_AT);
	} else {
		litifut_mips_put(emitter, (word & 0x03e00000) | 0x08); /* jr rN */
	}
	litifut_mips_put(emitter, slot);
}

/* Prepares the recorder for a child that the end of the block makes. */
static void prepare(struct litifut_mips_emitter *emitter, uint32_t target)
{
	if (emitter->place->block->spawns)
		put_bits_call(emitter, emitter->code->spawns, target);
}

/* Goes on at the target, with `last` executed before. Where bits are recorded it takes as many
 * bytes for any distance, as other code leads into the middle. */
static void put_go(struct litifut_mips_emitter *emitter, uint32_t target, uint32_t last)
{
	const struct litifut_arch_context *context = emitter->place->context;
	const uint32_t room = context->bits ? 16 : 8;
	const bool anywhere = !may_name(last, SP) && !may_name(last, RA);
	const unsigned end = emitter->count + (!context->cpu.position_independent ? 2
					       : anywhere                         ? 5
										  : 6);
	uint32_t jump = litifut_mips_jump(&context->cpu, false, litifut_mips_here(emitter), target);

	if (jump || !context->cpu.position_independent) {
		emitter->failed |= !jump;
		litifut_mips_put(emitter, jump);
		litifut_mips_put(emitter, last);
		while (context->bits && emitter->count < end)
			litifut_mips_put(emitter, NOP);
		return;
	}
	if (!context->bits && litifut_mips_go_with_link(emitter, target, last))
		return;
	if (!anywhere)
		litifut_mips_put(emitter, last);
	litifut_mips_put(emitter, 0x27bd0000 | (-room & 0xffff)); /* addiu sp, sp, -room */
	litifut_mips_put(emitter, 0xafbf0000 | (room - 4));       /* sw ra, room - 4(sp) */
	litifut_mips_note(emitter, room, 1u << RA);
	jump = litifut_mips_jump(&context->cpu, true, litifut_mips_here(emitter),
				 context->bits ? emitter->code->bits[0] + LITIFUT_BITS_ON_MIPS
					       : emitter->code->mark + LITIFUT_MIPS_MARK_ON);
	emitter->failed |= !jump;
	litifut_mips_put(emitter, jump);
	litifut_mips_put(emitter, anywhere ? last : NOP);
	litifut_mips_put(emitter, target - litifut_mips_here(emitter));
	litifut_mips_note(emitter, 0, 0);
}

static bool ends_unit(const struct litifut_mips_emitter *emitter, const struct litifut_edge *edge)
{
	return emitter->place->context->units && (edge->end || edge->whole);
}

/* The same for an entry that is recorded already, or that of an end; records that a unit ends. */
static void put_entered(struct litifut_mips_emitter *emitter, const struct litifut_edge *edge,
			bool recorded, uint32_t target)
{
	const uint32_t next = emitter->place->block->spawns ? 0 : target;

	if (ends_unit(emitter, edge)) {
		if (emitter->count == 5) /* edge_call_bytes of struct cpu */
			litifut_mips_put(emitter, NOP);
		put_edge(emitter, LITIFUT_WAY_TAKEN, next);
	} else if (!recorded) {
		put_edge(emitter, LITIFUT_WAY_ENTERED, next);
	}
	prepare(emitter, target);
}

/* Before a call that makes a child, the recorder looks at its arguments. The delay slot often sets
 * one, and is executed before where that changes nothing: it does not write the register that
 * `word` jumps by, and does not use the return address. */
static bool slot_comes_first(const struct litifut_mips_emitter *emitter, uint32_t word,
			     uint32_t slot)
{
	return emitter->place->block->spawns && !litifut_mips_writes(slot, word >> 21 & 31) &&
	       !litifut_mips_writes(slot, RA) && (slot >> 21 & 31) != RA && (slot >> 16 & 31) != RA;
}

/* The end of the block; `recorded`: its start need not be. */
static void put_end(struct litifut_mips_emitter *emitter, const struct litifut_edge *edge,
		    bool recorded)
{
	const struct litifut_block *block = &emitter->place->block->block;
	const bool has_slot = block->ends != LITIFUT_ENDS_STOP;
	const uint32_t word = word_at(emitter->place, block->branch);
	uint32_t slot = has_slot ? word_at(emitter->place, block->branch + 4) : NOP;

	emitter->code->leads = true;
	if (block->ends != LITIFUT_ENDS_BRANCH && slot_comes_first(emitter, word, slot)) {
		litifut_mips_put(emitter, slot);
		slot = NOP;
	}
	switch (block->ends) {
	case LITIFUT_ENDS_BRANCH:
		if (recorded && !ends_unit(emitter, edge) && !emitter->place->block->spawns) {
			put_go(emitter, emitter->place->target, slot);
			break;
		}
		litifut_mips_put(emitter, slot);
		put_entered(emitter, edge, recorded, emitter->place->target);
		break;
	case LITIFUT_ENDS_CALL:
		put_entered(emitter, edge, recorded, 0);
		put_call(emitter, slot);
		break;
	default:
		put_entered(emitter, edge, recorded, 0);
		litifut_mips_put(emitter, word);
		if (has_slot)
			litifut_mips_put(emitter, slot);
		break;
	}
}

/* Is the start of the block recorded before what moves? A program that ends there by a signal must
 * have it in its trace. Where the code does not end with a jump to what follows, that takes
 * nothing more. */
static bool is_recorded_first(const struct litifut_mips_emitter *emitter,
			      const struct litifut_edge *edge, bool ends, uint32_t end)
{
	const struct litifut_block *block = &emitter->place->block->block;

	if (edge->end)
		return true;
	/* direct calls lead behind the record */
	if (litifut_edges_skip_records(emitter->place->context) &&
	    block->flags & LITIFUT_BLOCK_FUNCTION && block->entered == LITIFUT_ENTERED_RECORD)
		return true;
	if (edge->whole || (ends && block->ends != LITIFUT_ENDS_BRANCH))
		return true;
	for (uint32_t at = block->start; at < (ends ? block->branch + 8 : end); at += 4)
		if (litifut_mips_may_fault(word_at(emitter->place, at)))
			return true;
	return false;
}

static void put_moved(struct litifut_mips_emitter *emitter, uint32_t start, uint32_t end)
{
	for (uint32_t at = start; at < end; at += 4)
		litifut_mips_put(emitter, word_at(emitter->place, at));
}

/* Is the start of the block recorded by a bit? */
static bool is_entered_by_bit(const struct litifut_mips_emitter *emitter)
{
	return emitter->place->context->bits &&
	       litifut_edge_bit(emitter->place->context, &emitter->place->block->block,
				LITIFUT_WAY_ENTERED) == 1;
}

/* With `after`, what stands behind the first instruction is done already, or is not done here. */
static void put_entry(struct litifut_mips_emitter *emitter, const struct litifut_edge *edge)
{
	const uint32_t bytes = edge->bytes + (edge->step ? LITIFUT_EDGE_STEP_BYTES : 0);
	const struct litifut_block *block = &emitter->place->block->block;
	const uint32_t start = block->start;
	const bool ends = block->ends != LITIFUT_ENDS_ON && block->branch < start + edge->bytes;
	const uint32_t last = start + (edge->after ? 0 : bytes - 4);
	const unsigned code =
		!edge->end && is_entered_by_bit(emitter) ? edge->free[LITIFUT_WAY_ENTERED] : 0;
	const bool recorded = code || is_recorded_first(emitter, edge, ends, last + 4);

	if (code)
		litifut_mips_put_entered(emitter, code);
	else if (recorded && !edge->end)
		put_edge(emitter, LITIFUT_WAY_ENTERED, 0);
	/* with `after` the second instruction is executed before the code */
	if (recorded && !edge->end && (!edge->after || edge->shifts))
		emitter->code->behind = 4 * emitter->count;
	if (ends || edge->end) {
		if (!edge->end)
			put_moved(emitter, start, block->branch);
		put_end(emitter, edge, recorded);
		return;
	}
	put_moved(emitter, start, last);
	if (recorded) {
		put_go(emitter, start + bytes, word_at(emitter->place, last));
		return;
	}
	litifut_mips_put(emitter, word_at(emitter->place, last));
	put_edge(emitter, LITIFUT_WAY_ENTERED, start + bytes);
}

/* A branch that records bits by itself (edge_bits.c). */
static void put_coded(struct litifut_mips_emitter *emitter, const struct litifut_edge *edge,
		      uint32_t slot, bool slot_stays)
{
	const struct litifut_block *block = &emitter->place->block->block;
	const uint32_t word = word_at(emitter->place, block->branch);
	const bool two =
		edge->enters && is_entered_by_bit(emitter) && edge->free[LITIFUT_WAY_ENTERED];
	const unsigned code = edge->free[two ? LITIFUT_WAY_ENTERED : LITIFUT_WAY_TAKEN];

	if (two)
		litifut_mips_put_first(emitter, code, true);
	else if (edge->enters)
		put_edge(emitter, LITIFUT_WAY_ENTERED, 0);
	if (edge->enters && !two && !slot_stays)
		emitter->code->behind = 4 * emitter->count;
	put_moved(emitter, block->branch - edge->before, block->branch);
	if (slot != NOP && litifut_mips_comes_first(emitter->place->block, word, slot)) {
		litifut_mips_put(emitter, slot);
		slot = NOP;
	}
	if (!two)
		litifut_mips_put_first(emitter, code, false);
	litifut_mips_put_branch(emitter, code, word, slot,
				emitter->place->block->spawns ? 0 : emitter->place->target);
	prepare(emitter, emitter->place->target);
}

static void put_branch(struct litifut_mips_emitter *emitter, const struct litifut_edge *edge,
		       bool slot_stays)
{
	const struct litifut_block *block = &emitter->place->block->block;
	const uint32_t word = word_at(emitter->place, block->branch);
	const uint32_t slot = slot_stays ? NOP : word_at(emitter->place, block->branch + 4);
	unsigned test;

	emitter->code->leads = true;
	if ((edge->free[LITIFUT_WAY_TAKEN] && emitter->place->context->bits) ||
	    (edge->enters && is_entered_by_bit(emitter) && edge->free[LITIFUT_WAY_ENTERED])) {
		put_coded(emitter, edge, slot, slot_stays);
		return;
	}
	if (edge->enters)
		put_edge(emitter, LITIFUT_WAY_ENTERED, 0);
	if (edge->enters && !slot_stays)
		emitter->code->behind = 4 * emitter->count;
	if (edge->before)
		put_moved(emitter, block->start, block->branch);
	test = emitter->count;
	litifut_mips_put(emitter, 0);
	litifut_mips_put(emitter, slot);
	put_edge(emitter, LITIFUT_WAY_PASSED, block->end);
	emitter->words[test] = (word & 0xffff0000) | (emitter->count - test - 1);
	put_edge(emitter, LITIFUT_WAY_TAKEN,
		 emitter->place->block->spawns ? 0 : emitter->place->target);
	prepare(emitter, emitter->place->target);
}

/* May the delay slot stay, to be executed before the code? Not where direct calls lead behind the
 * record of the start, and do not come by what stays. */
static bool slot_may_stay(const struct litifut_edge_place *place, const struct litifut_edge *edge)
{
	if (edge->bytes != 4 && edge->enters && litifut_edges_skip_records(place->context) &&
	    LITIFUT_ENTERED_KIND(place->block->block.entered) >= LITIFUT_ENTERED_RECORD)
		return false;
	return litifut_mips_comes_first(place->block, word_at(place, edge->address),
					word_at(place, edge->address + 4));
}

static bool write_edge(const struct litifut_edge_place *place, const struct litifut_edge *edge,
		       uint32_t address, struct litifut_edge_code *code)
{
	const bool big = place->context->cpu.big_endian;
	const struct litifut_exit_ways ways = {.gate = code->gate, .landings = code->landings};
	struct litifut_mips_emitter emitter = {
		.place = place, .edge = edge, .code = code, .address = address};
	struct litifut_detour *detour = &code->detour;
	const uint32_t from = edge->address + edge->shift;
	const bool turns = edge->after && !edge->shifts;
	bool slot_stays = false;
	uint32_t words[2];

	memset(detour, 0, sizeof(*detour));
	code->behind = 0;
	detour->frames[0] =
		(struct litifut_frame_code){.start = address, .instruction = edge->address};
	if (!litifut_mips_lead(place->context, &ways, edge->borrowed ? edge->borrowed : from,
			       address, words, &detour->entry))
		return false;
	if (edge->borrowed) {
		words[0] = litifut_mips_jump(&place->context->cpu, false, from, edge->borrowed);
		words[1] = NOP;
		detour->entry = edge->borrowed;
		if (!words[0])
			return false;
	}
	/* a number in $at comes before the test */
	if (!edge->entry && !edge->before && words[1] != NOP &&
	    (names_at(word_at(place, edge->address)) ||
	     names_at(word_at(place, edge->address + 4))))
		return false;
	if (!edge->entry && !edge->before && words[1] == NOP) {
		slot_stays = slot_may_stay(place, edge);
		words[1] = slot_stays ? word_at(place, edge->address + 4) : NOP;
	}
	if ((edge->bytes == 4 && !slot_stays) || (turns && words[1] != NOP))
		return false;
	if (edge->entry)
		put_entry(&emitter, edge);
	else
		put_branch(&emitter, edge, slot_stays);
	while (emitter.count % ((1u << place->context->grain) / 4))
		litifut_mips_put(&emitter, NOP);
	code->bytes = 4 * emitter.count;
	detour->frames[0].bytes = code->bytes;
	for (unsigned i = 0; i < emitter.count; i++)
		litifut_put32(big, code->code + 4 * i, emitter.words[i]);
	detour->address = from;
	detour->length = edge->bytes == 4 || slot_stays || turns ? 4 : 8;
	for (unsigned i = 0; i < 2; i++)
		litifut_put32(big, detour->code + 4 * i, words[i]);
	return !emitter.failed;
}

static bool can_step(const struct litifut_edge_place *place, const struct litifut_edge *edge)
{
	const struct litifut_block *block = &place->block->block;

	if (!edge->entry || edge->end || edge->bytes != 8 || edge->after ||
	    block->end - block->start < 16 ||
	    (block->ends != LITIFUT_ENDS_ON && block->branch < block->start + 16) ||
	    block->start + 16 > place->function_end)
		return false;
	for (uint32_t at = block->start + 8; at < block->start + 16; at += 4) {
		const uint32_t word = word_at(place, at);

		if (is_target(place, at) || !litifut_edge_is_free(place, at, 4) || names_at(word) ||
		    !litifut_mips_can_move(word) ||
		    litifut_mips_writes(word, SP)) /* of which unwinders know nothing */
			return false;
	}
	return true;
}

static uint32_t write_step(const struct litifut_arch_context *context,
			   const struct litifut_exit_ways *ways, uint32_t address, uint32_t target,
			   uint8_t *code)
{
	uint32_t words[2];
	uint32_t entry;

	if (!litifut_mips_lead(context, ways, address, target, words, &entry))
		return 0;
	for (unsigned i = 0; i < 2; i++)
		litifut_put32(context->cpu.big_endian, code + 4 * i, words[i]);
	return entry;
}

/* jalr into another register, and what has a barrier, stay. */
static bool lead(const struct litifut_edge_place *place, uint8_t *code)
{
	const struct litifut_block *block = &place->block->block;
	const bool call = block->ends == LITIFUT_ENDS_CALL;
	const uint32_t word = word_at(place, block->branch);
	const uint32_t jump =
		litifut_mips_jump(&place->context->cpu, call, block->branch, place->target);

	if (!jump || (!block->target && (word & 0xfc1fffff) != 0x0000f809))
		return false;
	litifut_put32(place->context->cpu.big_endian, code, jump);
	return true;
}

/* How many bytes of the start has the edge moved, of which the last instruction alone changes the
 * stack? Unwinders see none of the others. 0: more has moved than that. */
static uint32_t plainly_moved(const struct litifut_edge_place *place,
			      const struct litifut_edge *edge)
{
	const struct litifut_block *block = &place->block->block;
	const uint32_t bytes = edge ? edge->bytes + (edge->step ? LITIFUT_EDGE_STEP_BYTES : 0u) : 0;
	const uint32_t last = block->start + bytes - 4;

	if (!bytes || edge->after || edge->shift || block->end <= last ||
	    (block->ends != LITIFUT_ENDS_ON && block->branch <= last))
		return 0;
	for (uint32_t at = block->start; at < last; at += 4)
		if (litifut_mips_writes(word_at(place, at), SP))
			return 0;
	return bytes;
}

/* What has moved is done here, and the rest where it is:
 *
 *	first				addiu at, t9, 8
 *	b     start + 8			first
 *	second				jr    at
 *					second
 *
 * Where that can't be, the code of the edge is executed, behind its record:
 *
 *	lui   at, %hi(code - start)
 *	addiu at, at, %lo(code - start)
 *	addu  at, at, t9
 *	jr    at
 *	nop */
static unsigned write_way(const struct litifut_edge_place *place, const struct litifut_edge *edge,
			  uint32_t address, bool by_register, uint8_t *code)
{
	const uint32_t start = place->block->block.start;
	const uint32_t moved = plainly_moved(place, edge);
	const uint32_t distance = place->block->behind - start;
	uint32_t words[LITIFUT_EDGE_WAY_BYTES / 4];
	unsigned count = 0;

	if (!by_register && !moved)
		return 0;
	if (moved) {
		if (by_register)
			words[count++] = 0x27210000 | moved; /* addiu at, t9, n */
		for (uint32_t at = start; at < start + moved - 4; at += 4)
			words[count++] = word_at(place, at);
		words[count] = by_register ? JR_AT
					   : litifut_mips_jump(&place->context->cpu, false,
							       address + 4 * count, start + moved);
		if (!words[count++])
			return 0;
		words[count++] = word_at(place, start + moved - 4);
	} else {
		words[count++] = 0x3c010000 | litifut_mips_high(distance);
		words[count++] = 0x24210000 | (distance & 0xffff);
		words[count++] = 0x00390821; /* addu at, at, t9 */
		words[count++] = JR_AT;
		words[count++] = NOP;
	}
	for (unsigned i = 0; i < count; i++)
		litifut_put32(place->context->cpu.big_endian, code + 4 * i, words[i]);
	return 4 * count;
}

/* The delay slot is executed before control comes there. */
static bool holds(const struct litifut_edge_place *place, uint32_t address)
{
	return place->block->callee == address &&
	       !litifut_mips_writes(word_at(place, place->block->block.branch + 4),
				    LITIFUT_MIPS_T9);
}

const struct litifut_arch_edges litifut_mips_edges = {
	.find_called = litifut_mips_find_called,
	.add_addresses = litifut_mips_add_addresses,
	.may_call = litifut_mips_may_call,
	.refuses_bits = litifut_mips_refuses_thunks,
	.bits_bytes = LITIFUT_BITS_BYTES_MIPS,
	.near_bytes = 0x1e000,
	.can_step = can_step,
	.write_step = write_step,
	.step_entry = LITIFUT_MIPS_ENTRY_NUMBERED,
	.join = join,
	.judge_function = judge_function,
	.judge_branch = judge_branch,
	.judge_entry = judge_entry,
	.write = write_edge,
	.lead = lead,
	.write_way = write_way,
	.holds = holds,
	.mark_bytes = LITIFUT_MIPS_MARK_BYTES,
	.write_mark = litifut_mips_write_mark,
	.bytes_max = LITIFUT_EDGE_BYTES_MAX,
};
