#include "rewriter/mips/edge_write.h"

#include <litifut/thunk_abi.h>
#include <string.h>

#include "rewriter/exit_point.h"
#include "rewriter/mips/edge_bits.h"
#include "rewriter/mips/edge_flags.h"
#include "rewriter/mips/edge_forms.h"

enum { SP = 29, RA = LITIFUT_MIPS_RA };

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
	const uint32_t word = litifut_mips_word_at(emitter->place, block->branch);
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
		litifut_mips_put(emitter, LITIFUT_MIPS_JR_AT);
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
	const bool anywhere = !litifut_mips_may_name(last, SP) && !litifut_mips_may_name(last, RA);
	const unsigned end = emitter->count + (!context->cpu.position_independent ? 2
					       : anywhere                         ? 5
										  : 6);
	uint32_t jump = litifut_mips_jump(&context->cpu, false, litifut_mips_here(emitter), target);

	if (jump || !context->cpu.position_independent) {
		emitter->failed |= !jump;
		litifut_mips_put(emitter, jump);
		litifut_mips_put(emitter, last);
		while (context->bits && emitter->count < end)
			litifut_mips_put(emitter, LITIFUT_MIPS_NOP);
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
	litifut_mips_put(emitter, anywhere ? last : LITIFUT_MIPS_NOP);
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
			litifut_mips_put(emitter, LITIFUT_MIPS_NOP);
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
	const uint32_t word = litifut_mips_word_at(emitter->place, block->branch);
	uint32_t slot = has_slot ? litifut_mips_word_at(emitter->place, block->branch + 4)
				 : LITIFUT_MIPS_NOP;

	emitter->code->leads = true;
	if (block->ends != LITIFUT_ENDS_BRANCH && slot_comes_first(emitter, word, slot)) {
		litifut_mips_put(emitter, slot);
		slot = LITIFUT_MIPS_NOP;
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
		if (litifut_mips_may_fault(litifut_mips_word_at(emitter->place, at)))
			return true;
	return false;
}

static void put_moved(struct litifut_mips_emitter *emitter, uint32_t start, uint32_t end)
{
	for (uint32_t at = start; at < end; at += 4)
		litifut_mips_put(emitter, litifut_mips_word_at(emitter->place, at));
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
		put_go(emitter, start + bytes, litifut_mips_word_at(emitter->place, last));
		return;
	}
	litifut_mips_put(emitter, litifut_mips_word_at(emitter->place, last));
	put_edge(emitter, LITIFUT_WAY_ENTERED, start + bytes);
}

/* A branch that records bits by itself (edge_bits.c). */
static void put_coded(struct litifut_mips_emitter *emitter, const struct litifut_edge *edge,
		      uint32_t slot, bool slot_stays)
{
	const struct litifut_block *block = &emitter->place->block->block;
	const uint32_t word = litifut_mips_word_at(emitter->place, block->branch);
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
	if (slot != LITIFUT_MIPS_NOP &&
	    litifut_mips_comes_first(emitter->place->block, word, slot)) {
		litifut_mips_put(emitter, slot);
		slot = LITIFUT_MIPS_NOP;
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
	const uint32_t word = litifut_mips_word_at(emitter->place, block->branch);
	const uint32_t slot = slot_stays ? LITIFUT_MIPS_NOP
					 : litifut_mips_word_at(emitter->place, block->branch + 4);
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
	return litifut_mips_comes_first(place->block, litifut_mips_word_at(place, edge->address),
					litifut_mips_word_at(place, edge->address + 4));
}

bool litifut_mips_write_edge(const struct litifut_edge_place *place,
			     const struct litifut_edge *edge, uint32_t address,
			     struct litifut_edge_code *code)
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
		words[1] = LITIFUT_MIPS_NOP;
		detour->entry = edge->borrowed;
		if (!words[0])
			return false;
	}
	/* a number in $at comes before the test */
	if (!edge->entry && !edge->before && words[1] != LITIFUT_MIPS_NOP &&
	    (litifut_mips_names_at(litifut_mips_word_at(place, edge->address)) ||
	     litifut_mips_names_at(litifut_mips_word_at(place, edge->address + 4))))
		return false;
	if (!edge->entry && !edge->before && words[1] == LITIFUT_MIPS_NOP) {
		slot_stays = slot_may_stay(place, edge);
		words[1] = slot_stays ? litifut_mips_word_at(place, edge->address + 4)
				      : LITIFUT_MIPS_NOP;
	}
	if ((edge->bytes == 4 && !slot_stays) || (turns && words[1] != LITIFUT_MIPS_NOP))
		return false;
	if (edge->entry)
		put_entry(&emitter, edge);
	else
		put_branch(&emitter, edge, slot_stays);
	while (emitter.count % ((1u << place->context->grain) / 4))
		litifut_mips_put(&emitter, LITIFUT_MIPS_NOP);
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
