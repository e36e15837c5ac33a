/* A function is walked along its branches, from its start, with what is known of lr,
 * sp and the registers. Where ways meet, what is not the same on both is given up.
 * Blocks that no branch names are cases of a switch, labels or landing pads: they
 * begin as the computed jumps of the function leave it; without any, with nothing
 * known. */
#include "rewriter/arm/flow.h"

#include <stdlib.h>
#include <string.h>

#include "cpu/arm/effect.h"

#define SP 13
#define LR 14
#define PC 15
#define CALL_CLOBBERS 0x100f /* r0 to r3, r12 */

/* Of lr, the better known first: the least that holds on all ways is the highest. */
enum { LR_RESTORED, LR_CALLERS, LR_OTHER };

/* Marks of halfwords. */
enum {
	NO_CODE = 1, /* at least not of the call's kind */
	BEGINS = 2,  /* the one before does not go on to it */
	OTHERS = 4,  /* no branch that names it leads there */
	QUEUED = 8
};

#define LOST INT32_MIN /* a stack pointer of which nothing is known */

struct state {
	bool reached;
	uint8_t lr;
	uint8_t literal_register; /* that holds `literal`; LITIFUT_ARM_NO_REGISTER: none */
	uint16_t computed;        /* registers that were computed, bit 0: r0 */
	uint16_t inside;          /* those that hold an address in the function */
	int32_t stack;            /* sp less what it was at the start, or LOST */
	uint32_t literal;
};

struct walk {
	const struct litifut_cramped_call *call;
	bool position_independent;
	uint32_t start;
	uint32_t size;
	struct state *states; /* one for each halfword, and one more for the jumps */
	uint8_t *marks;       /* of each halfword */
	uint32_t *queue;
	size_t queued;
};

static const struct state nothing_known = {.reached = true,
					   .lr = LR_OTHER,
					   .literal_register = LITIFUT_ARM_NO_REGISTER,
					   .stack = LOST};

static bool is_inside(const struct walk *walk, uint32_t address)
{
	return address - walk->start < walk->size;
}

/* Adds what is known on one more way; true if that changes anything. */
static bool merge(struct state *into, const struct state *from)
{
	const struct state before = *into;

	if (!into->reached) {
		*into = *from;
		return true;
	}
	if (into->lr < from->lr)
		into->lr = from->lr;
	if (into->stack != from->stack)
		into->stack = LOST;
	into->computed |= from->computed;
	into->inside |= from->inside;
	if (into->literal_register != from->literal_register || into->literal != from->literal)
		into->literal_register = LITIFUT_ARM_NO_REGISTER;
	return into->lr != before.lr || into->stack != before.stack ||
	       into->computed != before.computed || into->inside != before.inside ||
	       into->literal_register != before.literal_register;
}

static bool reach(struct walk *walk, uint32_t half, const struct state *state)
{
	if (half >= walk->size / 2 || walk->marks[half] & NO_CODE ||
	    !merge(&walk->states[half], state))
		return false;
	if (!(walk->marks[half] & QUEUED))
		walk->queue[walk->queued++] = half;
	walk->marks[half] |= QUEUED;
	return true;
}

/* A number in a register: it may be an address, or become one when the pc is added. */
static void take_number(const struct walk *walk, struct state *state, unsigned reg, uint32_t number)
{
	if (!walk->position_independent && is_inside(walk, number & ~1u)) {
		state->computed |= (uint16_t)(1u << reg);
		state->inside |= (uint16_t)(1u << reg);
	}
	state->literal_register = (uint8_t)reg;
	state->literal = number;
}

static void take_address(const struct walk *walk, struct state *state, unsigned reg,
			 uint32_t address)
{
	if (is_inside(walk, address & ~1u)) {
		state->computed |= (uint16_t)(1u << reg);
		state->inside |= (uint16_t)(1u << reg);
	}
}

static void take_sum(const struct walk *walk, const struct state *before, struct state *state,
		     const struct litifut_arm_effect *effect, unsigned reg, uint32_t pc)
{
	unsigned other = effect->operands[effect->operands[0] == PC];

	if ((effect->operands[0] == PC || effect->operands[1] == PC) &&
	    before->literal_register == other) {
		take_address(walk, state, reg, before->literal + pc);
		return;
	}
	state->computed |= (uint16_t)(1u << reg);
}

static void take_value(const struct walk *walk, const struct state *before, struct state *state,
		       const struct litifut_arm_effect *effect, unsigned reg, uint32_t pc)
{
	const struct litifut_section *section = walk->call->section;
	const uint32_t at = effect->value - section->address;

	if (effect->adds) {
		take_sum(walk, before, state, effect, reg, pc);
	} else if (effect->forms_address) {
		take_address(walk, state, reg, effect->value);
	} else if (effect->loads_literal) {
		if (at < section->size && section->size - at >= 4)
			take_number(walk, state, reg, litifut_get32(false, section->bytes + at));
	} else if (effect->is_constant) {
		uint32_t low = before->literal_register == reg ? before->literal & 0xffff : 0;

		take_number(walk, state, reg,
			    effect->is_upper_half ? effect->value << 16 | low : effect->value);
	} else if (effect->copied < PC) {
		state->computed |= (uint16_t)((before->computed >> effect->copied & 1) << reg);
		state->inside |= (uint16_t)((before->inside >> effect->copied & 1) << reg);
	} else if (effect->base < PC && before->inside >> effect->base & 1) {
		state->computed |= (uint16_t)(1u << reg); /* from a table in the function */
	}
}

static void take_stack(struct state *state, const struct litifut_arm_effect *effect)
{
	if (effect->stack == LITIFUT_ARM_STACK_LOST)
		state->stack = LOST;
	else if (effect->stack == LITIFUT_ARM_STACK_FRAME)
		state->stack = 0;
	else if (state->stack != LOST)
		state->stack += effect->stack_change;
	else if (effect->stack == LITIFUT_ARM_STACK_POPPED)
		state->stack = 0; /* by a frame pointer, and then this: a function ends */
}

static struct state after(const struct walk *walk, const struct state *before,
			  const struct litifut_instruction *instruction, uint32_t address)
{
	struct litifut_arm_effect effect =
		instruction->thumb
			? litifut_arm_thumb_effect(instruction->word, instruction->length, address)
			: litifut_arm_plain_effect(instruction->word, address);
	struct state state = *before;
	bool calls = instruction->class == LITIFUT_CLASS_CALL_DIRECT ||
		     instruction->class == LITIFUT_CLASS_CALL_INDIRECT;
	uint32_t written = effect.written | (calls ? CALL_CLOBBERS | 1u << LR : 0);
	uint32_t single = effect.written & 0xffff;

	state.computed &= (uint16_t)~written;
	state.inside &= (uint16_t)~written;
	if (state.literal_register < PC && written >> state.literal_register & 1)
		state.literal_register = LITIFUT_ARM_NO_REGISTER;
	if (single && !(single & (single - 1))) {
		unsigned reg = 0;

		while (!(single >> reg & 1))
			reg++;
		take_value(walk, before, &state, &effect, reg,
			   address + (instruction->thumb ? 4 : 8));
	}
	/* By itself a load may be of anything: lr is a register like others. */
	if (written & 1u << LR && !effect.restores_lr)
		state.lr = LR_OTHER;
	else if (written & 1u << LR)
		state.lr = effect.stack ? LR_RESTORED : LR_CALLERS;
	else if (effect.stack == LITIFUT_ARM_STACK_MOVES && effect.stack_change < 0 &&
		 state.lr == LR_RESTORED)
		state.lr = LR_CALLERS; /* a frame again */
	if (effect.stack)
		take_stack(&state, &effect);
	return state;
}

static bool takes_pc_from_stack(const struct litifut_instruction *instruction)
{
	uint32_t word = instruction->word;

	if (!instruction->thumb)
		return (word & 0x0fff8000) == 0x08bd8000 || (word & 0x0ffff000) == 0x049df000 ||
		       (word & 0x0e5f8000) == 0x081d8000;
	if (instruction->length == 2)
		return (word & 0xff00) == 0xbd00;
	return (word & 0xffff8000) == 0xe8bd8000 || (word & 0xfffff000) == 0xf85df000;
}

/* Goes nowhere else than it says, if it is executed: false. */
static bool goes_on(const struct litifut_instruction *instruction)
{
	uint32_t word = instruction->word;

	switch (instruction->class) {
	case LITIFUT_CLASS_BRANCH_DIRECT:
	case LITIFUT_CLASS_BRANCH_INDIRECT:
	case LITIFUT_CLASS_BRANCH_COMPUTED:
		return false;
	default:
		break;
	}
	if (takes_pc_from_stack(instruction))
		return false;
	if (!instruction->thumb)
		return (word & 0xfff000f0) != 0xe7f000f0; /* udf */
	if (instruction->length == 2)
		return (word & 0xff00) != 0xde00;
	return (word & 0xfff0f000) != 0xf7f0a000 &&
	       (word & 0xffffffe0) != 0xe8dff000; /* tbb, tbh */
}

static bool is_jump(const struct litifut_instruction *instruction)
{
	if (takes_pc_from_stack(instruction))
		return false;
	return (instruction->class == LITIFUT_CLASS_BRANCH_INDIRECT &&
		instruction->target_register != LR) ||
	       instruction->class == LITIFUT_CLASS_BRANCH_COMPUTED ||
	       (instruction->thumb && (instruction->word & 0xffffffe0) == 0xe8dff000);
}

/* From one halfword on until the code does not go on. */
static void walk_block(struct walk *walk, uint32_t half)
{
	static const struct cpu_context context;
	const struct litifut_section *section = walk->call->section;
	unsigned conditional = 0; /* instructions of an IT block to come */

	while (half < walk->size / 2 && !(walk->marks[half] & NO_CODE)) {
		struct litifut_instruction instruction;
		const uint32_t address = walk->start + 2 * half;
		const struct state before = walk->states[half];
		unsigned length = litifut_arm_decode(
			&context, section->bytes + (address - section->address),
			walk->size - 2 * half, address,
			walk->call->instruction.thumb ? LITIFUT_CODE_THUMB : LITIFUT_CODE_PLAIN,
			&instruction);
		struct state next;
		bool maybe = conditional || instruction.conditional;

		if (!length || address == walk->call->address)
			return;
		next = after(walk, &before, &instruction, address);
		/* what a way out leaves behind does not matter */
		if (maybe && goes_on(&instruction))
			merge(&next, &before);
		if (instruction.class == LITIFUT_CLASS_BRANCH_DIRECT &&
		    is_inside(walk, instruction.target & ~1u))
			reach(walk, ((instruction.target & ~1u) - walk->start) / 2, &before);
		if (is_jump(&instruction))
			merge(&walk->states[walk->size / 2], &before);
		half += length / 2;
		if (!goes_on(&instruction)) {
			if (half < walk->size / 2)
				walk->marks[half] |= BEGINS;
			if (!maybe)
				return;
			next = before;
		}
		conditional = conditional ? conditional - 1
			      : instruction.thumb && length == 2
				      ? litifut_arm_it_length((uint16_t)instruction.word)
				      : 0;
		if (half >= walk->size / 2 || !merge(&walk->states[half], &next))
			return;
	}
}

static void walk_queue(struct walk *walk)
{
	while (walk->queued) {
		const uint32_t half = walk->queue[--walk->queued];

		walk->marks[half] &= (uint8_t)~QUEUED;
		walk_block(walk, half);
	}
}

/* Blocks that nothing has led to yet. What the jumps in them leave behind holds for all. */
static void walk_others(struct walk *walk)
{
	const struct state *jumps = &walk->states[walk->size / 2];
	bool changed = true;

	while (changed) {
		changed = false;
		for (uint32_t half = 1; half < walk->size / 2; half++) {
			bool begins = walk->marks[half] & BEGINS || walk->marks[half - 1] & NO_CODE;

			if (!begins ||
			    (walk->states[half].reached && !(walk->marks[half] & OTHERS)))
				continue;
			walk->marks[half] |= OTHERS;
			changed |= reach(walk, half, jumps->reached ? jumps : &nothing_known);
			walk_queue(walk);
		}
	}
}

/* Marks what is not code of the same kind, by the mapping symbols. */
static void mark_data(const struct litifut_image *image, struct walk *walk)
{
	const size_t number = (size_t)(walk->call->section - image->sections);
	const char kind = walk->call->instruction.thumb ? 't' : 'a';
	size_t low = 0;
	size_t high = image->symbol_count;
	bool data = false;
	uint32_t half = 0;

	while (low < high) {
		const size_t middle = (low + high) / 2;
		const struct litifut_symbol *symbol = &image->symbols[middle];

		if (symbol->section < number ||
		    (symbol->section == number && symbol->address <= walk->start))
			low = middle + 1;
		else
			high = middle;
	}
	for (; low < image->symbol_count && image->symbols[low].section == number; low++) {
		const struct litifut_symbol *symbol = &image->symbols[low];
		const uint32_t at = (symbol->address - walk->start) / 2;

		if (symbol->address - walk->start >= walk->size)
			break;
		if (!symbol->mapping || !strchr("atd", symbol->name[1]) ||
		    (symbol->name[2] && symbol->name[2] != '.'))
			continue;
		memset(walk->marks + half, data ? NO_CODE : 0, at - half);
		half = at;
		data = symbol->name[1] != kind;
	}
	memset(walk->marks + half, data ? NO_CODE : 0, walk->size / 2 - half);
}

/* Parts of functions that stand elsewhere do not begin as functions do. */
static bool is_part(const struct litifut_image *image, uint32_t start)
{
	const struct litifut_symbol *function = litifut_image_function_start(image, start);

	return function && strstr(function->name, ".cold");
}

static enum litifut_arm_flow judge(const struct walk *walk)
{
	const struct litifut_instruction *branch = &walk->call->instruction;
	const struct state *state = &walk->states[(walk->call->address - walk->start) / 2];

	if (!state->reached || state->computed >> branch->target_register & 1)
		return LITIFUT_ARM_FLOW_INSIDE;
	if (state->lr == LR_RESTORED && (state->stack == 0 || state->stack == LOST))
		return LITIFUT_ARM_FLOW_RESTORED;
	return state->lr == LR_CALLERS && state->stack == 0 ? LITIFUT_ARM_FLOW_CALLERS
							    : LITIFUT_ARM_FLOW_INSIDE;
}

enum litifut_arm_flow litifut_arm_flow_to(const struct litifut_image *image,
					  const struct litifut_arch_context *context,
					  const struct litifut_cramped_call *call)
{
	const uint32_t end = call->section->address + call->section->size;
	struct walk walk = {
		.call = call,
		.position_independent = context->cpu.position_independent,
		.start = call->function_start,
		.size = (call->function_end < end ? call->function_end : end) -
			call->function_start,
	};
	struct state first = {
		.reached = true, .lr = LR_CALLERS, .literal_register = LITIFUT_ARM_NO_REGISTER};
	enum litifut_arm_flow flow = LITIFUT_ARM_FLOW_INSIDE;
	size_t halves;

	if (walk.start < call->section->address || call->address < walk.start ||
	    walk.start >= end || call->address - walk.start >= walk.size)
		return flow;
	walk.size &= ~1u;
	halves = walk.size / 2;
	walk.states = calloc(halves + 1, sizeof(*walk.states));
	walk.marks = calloc(halves + 1, 1);
	walk.queue = calloc(halves + 1, sizeof(*walk.queue));
	if (walk.states && walk.marks && walk.queue) {
		mark_data(image, &walk);
		reach(&walk, 0, is_part(image, walk.start) ? &nothing_known : &first);
		walk_queue(&walk);
		walk_others(&walk);
		flow = judge(&walk);
	}
	free(walk.states);
	free(walk.marks);
	free(walk.queue);
	return flow;
}
