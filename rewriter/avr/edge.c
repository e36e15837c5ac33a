/* The code that sets flags. A branch and a skip instruction have 2 bytes, and a jump 4, but for
 * devices with up to 8 KB: an instruction before or behind the branch moves along.
 *
 *	site:	jmp  code		cp   r24, r22		code:	cp   r24, r22
 *					brne target			brne taken
 *	next:	...							push r24
 *									ldi  r24, 1
 *									sts  passed, r24
 *									pop  r24
 *									jmp  next
 *								taken:	the same with the other flag
 *									jmp  target
 *
 * After a skip instruction stands an rjmp to the part for `passed', which has the instruction that
 * would have been skipped. No register and no bit of SREG is changed. With LITIFUT_MODE=paths a
 * call of the tracer's code (tracer/avr/paths/bits.S) stands in place of what sets a flag.
 *
 * Where control comes to a block that has no room for a jump at its start, since a call stands
 * before it, the call moves: its callee returns to the code here. What moves must not come between
 * two writes to registers of the hardware, some of which must follow each other within 4 cycles.
 *
 * Manual: DS40002198. More than 500 lines in one file, because what is judged and what is written
 * must agree on each form. */
#include <string.h>

#include "cpu/step.h"
#include "rewriter/avr/avr.h"
#include "rewriter/edges.h"

#define MOVED_MAX 3       /* instructions */
#define WHOLE_BYTES 8u    /* of a block that moves from its start to its end, at most */
#define IO_DISTANCE 4u    /* instructions between two writes that may have to follow each other */
#define SMALL_DATA 0x200u /* where the memory may begin, behind these registers */

static uint32_t branch_bytes(const struct litifut_edge_place *place)
{
	return litifut_avr_is_small(&place->context->cpu) ? 2 : 4;
}

static const uint8_t *code_at(const struct litifut_edge_place *place, uint32_t address)
{
	return place->section->bytes + (address - place->section->address);
}

static uint16_t word_at(const struct litifut_edge_place *place, uint32_t address)
{
	return litifut_get16(false, code_at(place, address));
}

static struct litifut_instruction instruction_at(const struct litifut_edge_place *place,
						 uint32_t address)
{
	struct litifut_instruction instruction;

	litifut_avr_decode(&place->context->cpu, code_at(place, address),
			   place->section->address + place->section->size - address, address,
			   LITIFUT_CODE_PLAIN, &instruction);
	return instruction;
}

static bool is_target(const struct litifut_edge_place *place, uint32_t address)
{
	return litifut_targets_has(&place->graph->targets, address) ||
	       litifut_avr_marks(place->context, address) & LITIFUT_AVR_NAMED;
}

/* May the instruction, which does not end a block, be executed elsewhere? spm works in some parts
 * of the flash only. */
static bool moves(const struct litifut_edge_place *place, uint32_t address)
{
	const uint16_t word = word_at(place, address);

	return instruction_at(place, address).class == LITIFUT_CLASS_OTHER &&
	       !litifut_avr_is_skip(word) && (word & 0xffef) != 0x95e8;
}

/* Does it write to a register of the hardware? */
static bool writes_hardware(const struct litifut_edge_place *place, uint32_t address)
{
	const uint16_t word = word_at(place, address);

	return (word & 0xf800) == 0xb800 ||                         /* out */
	       (word & 0xfd00) == 0x9800 ||                         /* sbi, cbi */
	       (word & 0xd200) == 0x8200 ||                         /* std */
	       ((word & 0xfe00) == 0x9200 && (word & 0xf) != 0xf && /* st, sts, but not push */
		((word & 0xf) != 0 || word_at(place, address + 2) < SMALL_DATA));
}

/* Does a write stand shortly before `split` and another one shortly behind it, in the block of
 * which both sides are a part? */
static bool splits_hardware(const struct litifut_edge_place *place,
			    const struct litifut_graph_block *block, uint32_t split)
{
	unsigned distance = IO_DISTANCE + 1; /* to the last write before */
	unsigned behind = 0;

	for (uint32_t at = block->block.start; at < block->block.end;
	     at += instruction_at(place, at).length) {
		const bool writes = writes_hardware(place, at);

		if (at < split) {
			distance = writes ? 0 : distance + 1;
		} else {
			if (writes && distance + behind < IO_DISTANCE)
				return true;
			behind++;
		}
	}
	return false;
}

/* May the end of a block, which is not conditional, be done elsewhere? */
static bool ends_anywhere(const struct litifut_graph_block *block)
{
	return !(block->block.flags & LITIFUT_BLOCK_CONDITIONAL) &&
	       block->block.ends != LITIFUT_ENDS_STOP && block->block.ends != LITIFUT_ENDS_ON;
}

/* The instruction behind the branch moves along: how many bytes; 0: it can't. */
static unsigned behind(const struct litifut_edge_place *place)
{
	const struct litifut_graph_block *next = place->next;
	const uint32_t at = place->block->block.end;
	unsigned length;

	if (!next || next->function != place->block->function || is_target(place, at))
		return 0;
	length = instruction_at(place, at).length;
	if (!litifut_edge_is_free(place, at, length))
		return 0;
	if (next->block.ends != LITIFUT_ENDS_ON && next->block.branch == at)
		return ends_anywhere(next) ? length : 0;
	return moves(place, at) && !splits_hardware(place, next, at + length) ? length : 0;
}

static unsigned judge_branch(const struct litifut_edge_place *place, struct litifut_edge *edge)
{
	const struct litifut_graph_block *block = place->block;
	const uint32_t last = block->block.branch - block->last;

	edge->address = block->block.branch;
	edge->bytes = 2;
	if (block->block.ends != LITIFUT_ENDS_BRANCH)
		return LITIFUT_SITE_SPECIAL_FORM;
	if (!litifut_edge_is_free(place, edge->address, 2))
		return LITIFUT_SITE_BRANCH_TARGET;
	if (branch_bytes(place) == 2)
		return LITIFUT_SITE_PATCHED;
	if (block->last && moves(place, last) && litifut_edge_is_free(place, last, block->last) &&
	    !splits_hardware(place, block, last)) {
		edge->address = last;
		edge->before = block->last;
		edge->bytes += block->last;
		return LITIFUT_SITE_PATCHED;
	}
	edge->after = (uint8_t)behind(place);
	edge->bytes += edge->after;
	return edge->after ? LITIFUT_SITE_PATCHED : LITIFUT_SITE_BRANCH_TARGET;
}

/* What moves from the start of a block. */
struct moved {
	uint32_t items[MOVED_MAX];
	unsigned count;
	uint32_t bytes;
	bool with_end; /* the last of them is the end of the block */
};

/* Collects at least `wanted` bytes from `start`, in the block; false: it is not possible. */
static bool gather(const struct litifut_edge_place *place, uint32_t start, uint32_t wanted,
		   struct moved *moved)
{
	const struct litifut_graph_block *block = place->block;

	*moved = (struct moved){0};
	while (moved->bytes < wanted) {
		const uint32_t at = start + moved->bytes;
		unsigned length;

		if (moved->with_end) {
			if (!litifut_edge_is_unused(place, at) || is_target(place, at))
				return false;
			moved->bytes += 2;
			continue;
		}
		if (at >= block->block.end || moved->count == MOVED_MAX)
			return false;
		length = instruction_at(place, at).length;
		if (!litifut_edge_is_free(place, at, length))
			return false;
		moved->with_end = block->block.ends != LITIFUT_ENDS_ON && block->block.branch == at;
		if (moved->with_end ? !ends_anywhere(block) : !moves(place, at))
			return false;
		moved->items[moved->count++] = at;
		moved->bytes += length;
	}
	return !splits_hardware(place, block, start) &&
	       (moved->with_end || !splits_hardware(place, block, start + moved->bytes));
}

/* The block before, if it is a call that returns to this one and nothing else leads here. */
static const struct litifut_graph_block *call_before(const struct litifut_edge_place *place)
{
	const struct litifut_graph_block *block = place->block;

	return block > place->graph->items && block[-1].block.end == block->block.start &&
			       block[-1].function == block->function &&
			       block[-1].block.ends == LITIFUT_ENDS_CALL &&
			       !(block[-1].block.flags & LITIFUT_BLOCK_CONDITIONAL) &&
			       !is_target(place, block->block.start)
		       ? block - 1
		       : NULL;
}

/* LITIFUT_MODE=units: the end of the block, with what stands before it, as little as is enough, or
 * with the call before it. */
static unsigned judge_end(const struct litifut_edge_place *place, struct litifut_edge *edge)
{
	const struct litifut_block *block = &place->block->block;
	const struct litifut_graph_block *call = call_before(place);
	struct moved moved;

	for (uint32_t at = block->start; at < block->end; at += instruction_at(place, at).length)
		if (block->end - at >= branch_bytes(place) &&
		    gather(place, at, block->end - at, &moved)) {
			edge->address = at;
			edge->bytes = (uint8_t)moved.bytes;
		}
	if (edge->bytes >= branch_bytes(place))
		return LITIFUT_SITE_PATCHED;
	if (!call || !litifut_edge_is_free(place, call->block.branch, call->length) ||
	    !gather(place, block->start, block->end - block->start, &moved))
		return LITIFUT_SITE_BRANCH_TARGET;
	edge->address = call->block.branch;
	edge->before = call->length;
	edge->bytes = (uint8_t)(call->length + moved.bytes);
	return LITIFUT_SITE_PATCHED;
}

static unsigned judge_entry(const struct litifut_edge_place *place, struct litifut_edge *edge)
{
	const struct litifut_block *block = &place->block->block;
	const struct litifut_graph_block *call;
	struct moved moved;

	if (edge->end)
		return judge_end(place, edge);
	edge->address = block->start;
	if (edge->whole) {
		edge->bytes = (uint8_t)(block->end - block->start);
		return edge->bytes >= branch_bytes(place) && edge->bytes <= WHOLE_BYTES &&
				       gather(place, block->start, edge->bytes, &moved)
			       ? LITIFUT_SITE_PATCHED
			       : LITIFUT_SITE_BRANCH_TARGET;
	}
	/* where a program ends: simulators and debuggers recognise its form */
	if (block->ends == LITIFUT_ENDS_BRANCH && block->target == block->branch)
		return LITIFUT_SITE_SPECIAL_FORM;
	if (gather(place, block->start, branch_bytes(place), &moved)) {
		edge->bytes = (uint8_t)moved.bytes;
		return LITIFUT_SITE_PATCHED;
	}
	edge->bytes = 2;
	call = call_before(place);
	if (!call || !litifut_edge_is_free(place, call->block.branch, call->length) ||
	    (call->length < branch_bytes(place) && !gather(place, block->start, 2, &moved)))
		return LITIFUT_SITE_BRANCH_TARGET;
	edge->address = call->block.branch;
	edge->before = call->length;
	edge->bytes = call->length;
	if (call->length < branch_bytes(place))
		edge->bytes = (uint8_t)(call->length + moved.bytes);
	return LITIFUT_SITE_PATCHED;
}

struct emitter {
	const struct litifut_edge_place *place;
	struct litifut_edge_code *code;
	uint32_t address;
	unsigned at;
	bool far; /* something is out of reach */
};

static void put(struct emitter *emitter, unsigned word)
{
	litifut_put16(false, emitter->code->code + emitter->at, (uint16_t)word);
	emitter->at += 2;
}

static void go(struct emitter *emitter, bool link, uint32_t target)
{
	const struct cpu_context *cpu = &emitter->place->context->cpu;
	uint8_t *code = emitter->code->code + emitter->at;

	if (litifut_avr_is_small(cpu))
		emitter->far |=
			!litifut_avr_near(cpu, link, emitter->address + emitter->at, target, code);
	else
		litifut_avr_far(link, target, code);
	emitter->at += litifut_avr_is_small(cpu) ? 2 : 4;
}

static void move(struct emitter *emitter, uint32_t address)
{
	for (unsigned i = 0; i < instruction_at(emitter->place, address).length; i += 2)
		put(emitter, word_at(emitter->place, address + i));
}

/* The words stand behind the calls. */
static void call_numbers(struct emitter *emitter, const struct litifut_number_calls *calls)
{
	for (unsigned i = 0; i < calls->count; i++) {
		const struct litifut_number_call *call = &calls->items[i];

		go(emitter, true, emitter->code->bits[call->code] & ~1u);
		for (unsigned j = 0; j < call->word_count; j++) {
			put(emitter, call->words[j] & 0xffff);
			put(emitter, call->words[j] >> 16);
		}
	}
}

static void mark(struct emitter *emitter, const struct litifut_block *block,
		 enum litifut_edge_way way)
{
	if (emitter->place->context->numbers) {
		call_numbers(emitter, &emitter->code->numbers[way]);
		return;
	}
	if (emitter->place->context->bits) {
		const unsigned bit = litifut_edge_bit(emitter->place->context, block, way);

		if (bit != LITIFUT_BIT_NONE)
			go(emitter, true, emitter->code->bits[bit] & ~1u);
		return;
	}
	put(emitter, 0x938f); /* push r24 */
	put(emitter, 0xe081); /* ldi r24, 1 */
	put(emitter, 0x9380); /* sts flag, r24 */
	put(emitter, (emitter->code->flags + litifut_edge_flag(block, way)) & 0xffff);
	put(emitter, 0x918f); /* pop r24 */
}

/* Writes the end of `block`. False: control does not go on behind it. */
static bool put_end(struct emitter *emitter, const struct litifut_graph_block *block)
{
	switch (block->block.ends) {
	case LITIFUT_ENDS_BRANCH:
		go(emitter, false, block->block.target);
		return false;
	case LITIFUT_ENDS_CALL:
		if (block->block.target)
			go(emitter, true, block->block.target);
		else
			move(emitter, block->block.branch);
		return true;
	default: {
		const struct litifut_instruction end =
			instruction_at(emitter->place, block->block.branch);

		if (litifut_has_target(&end)) /* see label_rows() and leads_away() */
			go(emitter, false, end.target);
		else
			move(emitter, block->block.branch);
		return false;
	}
	}
}

/* Lets the branch at `test`, which has no distance yet, lead to where the code stands now. */
static void land(struct emitter *emitter, unsigned test, unsigned shift)
{
	uint8_t *code = emitter->code->code + test;

	litifut_put16(
		false, code,
		(uint16_t)(litifut_get16(false, code) | (emitter->at - test - 2) / 2 << shift));
}

static void put_passed(struct emitter *emitter, const struct litifut_edge *edge)
{
	const struct litifut_edge_place *place = emitter->place;
	const uint32_t first = place->block->block.end;
	bool on = true;

	mark(emitter, &place->block->block, LITIFUT_WAY_PASSED);
	if (edge->after && place->next->block.ends != LITIFUT_ENDS_ON &&
	    place->next->block.branch == first)
		on = put_end(emitter, place->next);
	else if (edge->after)
		move(emitter, first);
	if (on)
		go(emitter, false, edge->address + edge->bytes);
}

static void put_taken(struct emitter *emitter)
{
	mark(emitter, &emitter->place->block->block, LITIFUT_WAY_TAKEN);
	go(emitter, false, emitter->place->block->block.target);
}

static void put_branch(struct emitter *emitter, const struct litifut_edge *edge)
{
	const struct litifut_edge_place *place = emitter->place;
	const uint16_t word = word_at(place, place->block->block.branch);
	unsigned test;

	if (edge->enters)
		mark(emitter, &place->block->block, LITIFUT_WAY_ENTERED);
	if (edge->before)
		move(emitter, edge->address);
	test = emitter->at;
	if (litifut_avr_is_skip(word)) {
		put(emitter, word);
		put(emitter, 0xc000); /* rjmp */
		put_taken(emitter);
		land(emitter, test + 2, 0);
		put_passed(emitter, edge);
		return;
	}
	put(emitter, word & ~0x03f8u);
	put_passed(emitter, edge);
	land(emitter, test, 3);
	put_taken(emitter);
}

static void put_entry(struct emitter *emitter, const struct litifut_edge *edge)
{
	const struct litifut_edge_place *place = emitter->place;
	const struct litifut_graph_block *block = place->block;
	struct moved moved = {0};
	bool on = true;

	if (edge->before)
		put_end(emitter, block - 1);
	if (edge->bytes > edge->before)
		gather(place, edge->before ? block->block.start : edge->address,
		       edge->bytes - edge->before, &moved);
	if (!edge->end)
		mark(emitter, &block->block, LITIFUT_WAY_ENTERED);
	for (unsigned i = 0; i < moved.count - moved.with_end; i++)
		move(emitter, moved.items[i]);
	/* the unit ends when it has returned */
	if (edge->end && block->block.ends == LITIFUT_ENDS_CALL) {
		on = put_end(emitter, block);
		moved.with_end = false;
	}
	if (edge->end || edge->whole)
		mark(emitter, &block->block, LITIFUT_WAY_TAKEN);
	if (moved.with_end)
		on = put_end(emitter, block);
	if (on)
		go(emitter, false, edge->address + edge->bytes);
}

static bool write_edge(const struct litifut_edge_place *place, const struct litifut_edge *edge,
		       uint32_t address, struct litifut_edge_code *code)
{
	struct emitter emitter = {.place = place, .code = code, .address = address};
	struct litifut_detour *detour = &code->detour;
	struct emitter site = {.place = place, .code = code, .address = edge->address};

	memset(detour, 0, sizeof(*detour));
	/* the way there is made where the code will stand */
	go(&site, false, address);
	memcpy(detour->code, code->code, site.at);
	if (edge->entry)
		put_entry(&emitter, edge);
	else
		put_branch(&emitter, edge);
	if (emitter.at & 2)
		put(&emitter, 0);
	code->bytes = emitter.at;
	detour->address = edge->address;
	detour->length = edge->bytes; /* what is left of it are nops */
	return !emitter.far && !site.far;
}

/* Rows of rjmp, whose first is named: where ijmp or icall leads is calculated, as by a switch of
 * devices that have neither jmp nor call. Labels all of them; false: there are none. */
static bool label_rows(const struct litifut_arch_context *context, struct litifut_graph *graph,
		       size_t first, size_t end)
{
	bool found = false;

	for (size_t i = first; i < end; i++) {
		struct litifut_graph_block *block = &graph->items[i];

		if (!(litifut_avr_marks(context, block->block.start) & LITIFUT_AVR_NAMED))
			continue;
		for (; i < end && graph->items[i].block.branch == graph->items[i].block.start &&
		       graph->items[i].block.ends == LITIFUT_ENDS_BRANCH &&
		       !(graph->items[i].block.flags & LITIFUT_BLOCK_CONDITIONAL);
		     i++) {
			graph->items[i].block.flags |= LITIFUT_BLOCK_LABEL;
			found = true;
		}
	}
	return found;
}

/* Does the instruction with this first word set r31 to what it was not calculated from? */
static bool loads_pointer(uint16_t word)
{
	return (word & 0xfff0) == 0x01f0 ||                            /* movw r30 */
	       (word & 0xfdf0) == 0x2df0 ||                            /* mov r31 */
	       (word & 0xf0f0) == 0xe0f0 ||                            /* ldi r31 */
	       (word & 0xfff0) == 0x91f0 || (word & 0xd3f0) == 0x81f0; /* ld, lpm, pop, ldd r31 */
}

/* Does it add to r30 or r31, or subtract from one of them? */
static bool calculates_pointer(uint16_t word)
{
	return (word & 0xf0e0) == 0x50e0 || (word & 0xf0e0) == 0x40e0 || /* subi, sbci */
	       (word & 0xe9e0) == 0x09e0 ||                              /* add, adc, sub, sbc */
	       ((word & 0xfe30) == 0x9630 && word & 0x00cf);             /* adiw, sbiw, but of 0 */
}

/* Does the code calculate where the ijmp of the last block leads from the address of a label, and
 * not load it from a table? What it does may begin in a block before. */
static bool calculates(const struct litifut_image *image, const struct litifut_graph *graph,
		       size_t first, size_t last)
{
	for (size_t i = last + 1; i-- > first;) {
		const struct litifut_graph_block *block = &graph->items[i];
		const struct litifut_section *section = &image->sections[block->section];
		const uint32_t end = i == last ? block->block.branch : block->block.end;
		bool calculated = false, sets = false;

		for (uint32_t at = block->block.start, length; at < end; at += length) {
			const uint16_t word =
				litifut_get16(false, section->bytes + (at - section->address));

			length = (word & 0xfc0f) == 0x9000 ? 4 : 2; /* lds, sts */
			if (calculates_pointer(word))
				sets = calculated = true;
			if (loads_pointer(word)) {
				sets = true;
				calculated = false;
			}
		}
		if (sets)
			return calculated;
	}
	return false;
}

/* LITIFUT_MODE=paths: the end of the block is a jump to a part of libgcc that is not a function, as
 * __tablejump2__, and goes back into this function from there. */
static bool leads_away(const struct litifut_image *image, const struct litifut_graph *graph,
		       const struct litifut_block *block)
{
	return block->ends == LITIFUT_ENDS_BRANCH && !(block->flags & LITIFUT_BLOCK_CONDITIONAL) &&
	       !litifut_graph_at(graph, block->target) &&
	       !litifut_image_function_start(image, block->target);
}

static unsigned judge_function(const struct litifut_image *image,
			       const struct litifut_arch_context *context,
			       struct litifut_graph *graph, size_t first, size_t end)
{
	const struct litifut_avr_image *code = context->cpu.facts;
	const uint32_t function = graph->items[first].block.start;
	uint32_t start, main_called;
	bool has_rows;

	if (litifut_avr_start_up(image, &start, &main_called) &&
	    (function == start || function - start < main_called - start))
		return LITIFUT_SITE_BEFORE_RAM;
	/* a table for lpm, in code that was written by hand */
	for (uint32_t at = function; at < graph->items[end - 1].block.end; at += 2)
		if (litifut_avr_marks(context, at) & LITIFUT_AVR_BYTES)
			return LITIFUT_SITE_CODE_AS_DATA;
	/* A symbol alone leads nowhere. */
	for (size_t i = first; i < end && context->bits && code->has_relocations; i++)
		if (!(litifut_avr_marks(context, graph->items[i].block.start) & LITIFUT_AVR_NAMED))
			graph->items[i].block.flags &= (uint8_t)~LITIFUT_BLOCK_LABEL;
	has_rows = label_rows(context, graph, first, end);
	for (size_t i = first; i < end; i++) {
		struct litifut_graph_block *block = &graph->items[i];
		const struct litifut_section *section = &image->sections[block->section];

		if (context->bits && leads_away(image, graph, &block->block)) {
			block->block.ends = LITIFUT_ENDS_JUMP;
			block->block.target = 0;
			continue;
		}
		/* else it is data that looks like a branch */
		if (block->block.ends == LITIFUT_ENDS_BRANCH &&
		    block->block.flags & LITIFUT_BLOCK_CONDITIONAL && code->has_branches &&
		    !litifut_avr_is_skip(litifut_get16(
			    false, section->bytes + (block->block.branch - section->address))) &&
		    !(litifut_avr_marks(context, block->block.branch) & LITIFUT_AVR_BRANCH))
			return LITIFUT_SITE_CODE_AS_DATA;
		if (block->block.ends == LITIFUT_ENDS_JUMP && !has_rows &&
		    calculates(image, graph, first, i))
			return LITIFUT_SITE_UNKNOWN_JUMP;
	}
	return LITIFUT_SITE_PATCHED;
}

/* Relocations say which functions a pointer may lead to. */
static void add_addresses(const struct litifut_image *image,
			  const struct litifut_arch_context *context,
			  const struct litifut_section *section,
			  const struct litifut_code_range *ranges, size_t count,
			  const struct litifut_called *called, struct litifut_targets *targets)
{
	const struct litifut_avr_image *code = context->cpu.facts;

	(void)section;
	(void)ranges;
	(void)count;
	(void)called;
	for (uint32_t at = 0; at < code->end; at += 2)
		if (litifut_avr_marks(context, at) & LITIFUT_AVR_NAMED)
			litifut_targets_add(targets, at);
	litifut_avr_vectors_targets(image, targets);
}

const struct litifut_arch_edges litifut_avr_edges = {
	.judge_function = judge_function,
	.add_addresses = add_addresses,
	.judge_branch = judge_branch,
	.judge_entry = judge_entry,
	.write = write_edge,
	.bytes_max = LITIFUT_EDGE_BYTES_MAX,
	.shares_code = true,
};
