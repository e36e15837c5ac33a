/* Jumps through a register: which of them leave their function for another one?
 *
 * A tail call leaves the stack pointer as it was when the function began. It is followed
 * from there along all branches; where only a table shows what code there is (switches,
 * computed gotos), from the jump by that to all labels that data name. Then a jump within
 * a function without a frame is left: what it jumps to was added up from a table and
 * a place, or loaded from a table with addresses in the function. Compilers call through
 * $t9, because the callee expects its address there. */
#include "rewriter/mips/mips.h"

#include <elf.h>
#include <stdlib.h>

enum { GP = 28, SP = 29, FP = 30 };

/* The stack pointer, counted from where it was at the start. */
#define UNSEEN INT32_MAX
#define LOST (INT32_MAX - 1)

/* So many instructions before a jump are looked at. */
#define BEFORE 64u

static bool is_coprocessor_branch(uint32_t word) /* bc1f, bc1t, the same of the second */
{
	return (word >> 26 == 0x11 || word >> 26 == 0x12) && (word >> 21 & 31) == 8;
}

bool litifut_mips_is_move(uint32_t word)
{
	return (word & 0xfc0007fb) == 0x21 && (!(word >> 21 & 31) || !(word >> 16 & 31));
}

struct litifut_instruction litifut_mips_branch_at(const struct litifut_arch_context *context,
						  const struct litifut_section *section,
						  uint32_t address)
{
	const uint8_t *code = section->bytes + (address - section->address);
	struct litifut_instruction instruction = {
		.word = litifut_get32(context->cpu.big_endian, code),
		.class = LITIFUT_CLASS_OTHER,
		.length = 4};

	if (!litifut_mips_may_jump(instruction.word))
		return instruction;
	litifut_mips_decode(&context->cpu, code, 4, address, LITIFUT_CODE_PLAIN, &instruction);
	if (is_coprocessor_branch(instruction.word)) {
		instruction.class = LITIFUT_CLASS_BRANCH_DIRECT;
		instruction.conditional = true;
		instruction.target =
			address + 4 + ((uint32_t)(int16_t)(instruction.word & 0xffff) << 2);
	}
	return instruction;
}

struct flow {
	const struct litifut_arch_context *context;
	const struct litifut_cramped_call *call;
	const struct litifut_targets *data;
	uint32_t start;
	size_t count;      /* of instructions */
	int32_t *depths;   /* before each */
	uint32_t *waiting; /* those that were reached, and not yet looked at */
	size_t waiting_count;
	int32_t frame_pointer; /* what fp was set to */
	bool has_frame_pointer;
};

static uint32_t word_at(const struct flow *flow, size_t index)
{
	return litifut_get32(flow->context->cpu.big_endian,
			     flow->call->section->bytes +
				     (flow->start - flow->call->section->address) + 4 * index);
}

static void reach(struct flow *flow, uint32_t address, int32_t depth)
{
	size_t index = (address - flow->start) / 4;

	if (address < flow->start || index >= flow->count)
		return;
	if (flow->depths[index] == UNSEEN)
		flow->waiting[flow->waiting_count++] = (uint32_t)index;
	else if (flow->depths[index] == depth)
		return;
	else
		depth = LOST;
	flow->depths[index] = depth;
}

/* What the instruction makes of the stack pointer. */
static int32_t behind(struct flow *flow, uint32_t word, int32_t depth)
{
	unsigned from = (word >> 21 & 31) | (word >> 16 & 31);

	if (litifut_mips_is_move(word) && (word >> 11 & 31) == FP && from == SP) {
		flow->has_frame_pointer = depth != LOST;
		flow->frame_pointer = depth;
	}
	if (!litifut_mips_writes(word, SP))
		return depth;
	if (word >> 16 == 0x27bd) /* addiu sp, sp, n */
		return depth == LOST ? LOST : depth + (int16_t)(word & 0xffff);
	if (litifut_mips_is_move(word) && from == FP && flow->has_frame_pointer)
		return flow->frame_pointer;
	return LOST;
}

static void follow(struct flow *flow, size_t index)
{
	uint32_t address = flow->start + 4 * (uint32_t)index;
	const struct litifut_instruction instruction =
		litifut_mips_branch_at(flow->context, flow->call->section, address);
	int32_t depth = behind(flow, word_at(flow, index), flow->depths[index]);
	int32_t slot = depth;

	if (instruction.class == LITIFUT_CLASS_OTHER) {
		reach(flow, address + 4, depth);
		return;
	}
	if (index + 1 < flow->count)
		slot = behind(flow, word_at(flow, index + 1), depth);
	if (instruction.class == LITIFUT_CLASS_BRANCH_INDIRECT)
		return;
	if (instruction.class != LITIFUT_CLASS_BRANCH_DIRECT) { /* a call */
		reach(flow, address + 8, slot);
		return;
	}
	reach(flow, instruction.target, slot);
	if (instruction.conditional)
		reach(flow, address + 8, litifut_mips_is_likely(instruction.word) ? depth : slot);
}

static void follow_all(struct flow *flow)
{
	while (flow->waiting_count)
		follow(flow, flow->waiting[--flow->waiting_count]);
}

/* Is it a jump to a label, as far as its form shows? With `any`, whatever register it
 * takes. */
static bool may_jump(const struct flow *flow, size_t index, bool any)
{
	uint32_t address = flow->start + 4 * (uint32_t)index;
	const struct litifut_instruction instruction =
		litifut_mips_branch_at(flow->context, flow->call->section, address);

	return instruction.class == LITIFUT_CLASS_BRANCH_INDIRECT &&
	       instruction.target_register != LITIFUT_MIPS_RA &&
	       (any || instruction.target_register != LITIFUT_MIPS_T9);
}

/* On from a jump that was reached to the labels that were not. False: there is none. */
static bool follow_labels(struct flow *flow, bool any)
{
	size_t index = 0;
	bool found = false;

	while (index < flow->count &&
	       (flow->depths[index] == UNSEEN || !may_jump(flow, index, any)))
		index++;
	if (index + 1 >= flow->count)
		return false;
	int32_t depth = behind(flow, word_at(flow, index + 1), flow->depths[index]);

	for (size_t i = 1; i < flow->count; i++)
		if (flow->depths[i] == UNSEEN &&
		    litifut_targets_has(flow->data, flow->start + 4 * (uint32_t)i)) {
			reach(flow, flow->start + 4 * (uint32_t)i, depth);
			found = true;
		}
	follow_all(flow);
	return found;
}

enum stack { STACK_UNKNOWN, STACK_OWN, STACK_CALLERS };

/* Whose is the stack behind the jump's delay slot? */
static enum stack stack_behind(const struct litifut_arch_context *context,
			       const struct litifut_cramped_call *call,
			       const struct litifut_targets *data)
{
	const uint32_t end = call->section->address + call->section->size;
	struct flow flow = {
		.context = context, .call = call, .data = data, .start = call->function_start};
	size_t index = (call->address - call->function_start) / 4;
	int32_t depth = LOST;

	if (call->function_start < call->section->address || call->function_start & 3 ||
	    call->function_end > end || call->address < call->function_start ||
	    call->address + 8 > call->function_end)
		return STACK_UNKNOWN;
	flow.count = (call->function_end - call->function_start) / 4;
	flow.depths = malloc(flow.count * sizeof(*flow.depths));
	flow.waiting = malloc(flow.count * sizeof(*flow.waiting));
	if (flow.depths && flow.waiting) {
		for (size_t i = 0; i < flow.count; i++)
			flow.depths[i] = UNSEEN;
		reach(&flow, flow.start, 0);
		follow_all(&flow);
		while (follow_labels(&flow, false) || follow_labels(&flow, true))
			;
		depth = flow.depths[index];
		if (depth != UNSEEN)
			depth = behind(&flow, word_at(&flow, index + 1), depth);
	}
	free(flow.depths);
	free(flow.waiting);
	if (depth == UNSEEN || depth == LOST)
		return STACK_UNKNOWN;
	return depth ? STACK_OWN : STACK_CALLERS;
}

enum value { VALUE_UNKNOWN, VALUE_LOADED, VALUE_FUNCTION, VALUE_LABEL };

/* Do instructions just before `address` name a table whose first word is an address within
 * the function? Its low half may be in the load there, `offset`. */
static bool is_label_table(const struct litifut_image *image,
			   const struct litifut_arch_context *context,
			   const struct litifut_cramped_call *call, uint32_t address,
			   uint32_t offset)
{
	uint32_t low[2] = {0, 0};

	for (unsigned i = 0; i < BEFORE && address > call->function_start; i++) {
		address -= 4;
		const struct litifut_instruction instruction =
			litifut_mips_branch_at(context, call->section, address);
		uint32_t word = instruction.word;

		if (instruction.class != LITIFUT_CLASS_OTHER && !instruction.conditional)
			return false;
		if (word >> 26 == 0x09 && (word >> 21 & 31) != SP)
			low[1] = (uint32_t)(int16_t)(word & 0xffff);
		for (unsigned j = 0; j < 2 && word >> 21 == 0x0f << 5; j++) { /* lui */
			uint32_t table = (word << 16) + offset + low[j];
			const struct litifut_section *section =
				litifut_image_section_at(image, table, 4);
			uint32_t first =
				section ? litifut_get32(context->cpu.big_endian,
							section->bytes + (table - section->address))
					: 0;

			if (first > call->function_start && first < call->function_end)
				return true;
		}
	}
	return false;
}

/* Where does what the jump goes to come from? */
static enum value value_of(const struct litifut_image *image,
			   const struct litifut_arch_context *context,
			   const struct litifut_cramped_call *call)
{
	unsigned reg = call->instruction.target_register;
	uint32_t address = call->address;

	for (unsigned i = 0; i < BEFORE && address > call->function_start; i++) {
		address -= 4;
		const struct litifut_instruction instruction =
			litifut_mips_branch_at(context, call->section, address);
		uint32_t word = instruction.word;

		if (instruction.class != LITIFUT_CLASS_OTHER && !instruction.conditional)
			return VALUE_UNKNOWN;
		if (!litifut_mips_writes(word, reg))
			continue;
		if (litifut_mips_is_move(word)) {
			reg = (word >> 21 & 31) | (word >> 16 & 31);
			continue;
		}
		if (word >> 26 == 0x23) { /* lw */
			if ((word >> 21 & 31) == GP)
				return VALUE_FUNCTION;
			return is_label_table(image, context, call, address,
					      (uint32_t)(int16_t)(word & 0xffff))
				       ? VALUE_LABEL
				       : VALUE_LOADED;
		}
		return word >> 26 == 0x09 ? VALUE_FUNCTION : VALUE_LABEL;
	}
	return VALUE_UNKNOWN;
}

/* Does any call of the image leave its return address in this register? */
static bool is_linked_by(const struct litifut_image *image,
			 const struct litifut_arch_context *context, unsigned reg)
{
	for (size_t i = 1; i < image->section_count; i++) {
		const struct litifut_section *section = &image->sections[i];

		if (!section->bytes || !(section->flags & SHF_EXECINSTR))
			continue;
		for (uint32_t at = 0; at + 4 <= section->size; at += 4) /* jalr reg, rN */
			if ((litifut_get32(context->cpu.big_endian, section->bytes + at) &
			     0xfc1ff83f) == (0x09 | (uint32_t)reg << 11))
				return true;
	}
	return false;
}

/* Does hand-written code return through the register? Then it was copied from ra, or the
 * caller has brought it in one that it linked by. */
static bool holds_return(const struct litifut_image *image,
			 const struct litifut_arch_context *context,
			 const struct litifut_cramped_call *call)
{
	unsigned reg = call->instruction.target_register;
	uint32_t last = 0;

	for (uint32_t at = call->function_start; at < call->address; at += 4) {
		uint32_t word = litifut_get32(context->cpu.big_endian,
					      call->section->bytes + (at - call->section->address));

		if (litifut_mips_writes(word, reg))
			last = word;
	}
	if (!last)
		return reg != LITIFUT_MIPS_T9 && is_linked_by(image, context, reg);
	return (last | 4) == (0x25 | (uint32_t)LITIFUT_MIPS_RA << 21 | reg << 11); /* move */
}

static bool has_labels(const struct litifut_cramped_call *call, const struct litifut_targets *data)
{
	for (uint32_t at = call->function_start + 4; at < call->function_end; at += 4)
		if (litifut_targets_has(data, at))
			return true;
	return false;
}

static bool restores_ra(uint32_t word) /* lw ra, N(sp) */
{
	return word >> 16 == 0x8fbf;
}

static bool frees_frame(uint32_t word) /* addiu sp, sp, N */
{
	return word >> 16 == 0x27bd && !(word & 0x8000);
}

/* Does the code around the jump end a function? For where its start is not known, or what
 * it does to the stack. */
static bool ends_function(const struct litifut_arch_context *context,
			  const struct litifut_cramped_call *call)
{
	const uint8_t *code = call->section->bytes + (call->address - call->section->address);
	uint32_t slot = litifut_get32(context->cpu.big_endian, code + 4);

	for (unsigned i = 1; i <= LITIFUT_REMEMBERED && call->before[i - 1]; i++)
		if (restores_ra(litifut_get32(context->cpu.big_endian, code - 4 * i)))
			return true;
	return frees_frame(slot) || restores_ra(slot);
}

bool litifut_mips_is_indirect_tail(const struct litifut_image *image,
				   const struct litifut_arch_context *context,
				   const struct litifut_cramped_call *call,
				   const struct litifut_targets *data)
{
	unsigned reg = call->instruction.target_register;
	uint32_t end = call->section->address + call->section->size;
	enum { AT = 1 };

	/* jr at: a branch that is too far for one, in a large function */
	if (reg == LITIFUT_MIPS_RA || reg == AT || call->instruction.thumb ||
	    call->address + 8 > end)
		return false;
	if (call->function_start < call->section->address ||
	    call->function_start >= call->function_end)
		return ends_function(context, call);
	if (holds_return(image, context, call))
		return false;
	enum value value = value_of(image, context, call);

	if (value == VALUE_LABEL)
		return false;
	switch (stack_behind(context, call, data)) {
	case STACK_OWN:
		return false;
	case STACK_UNKNOWN:
		return ends_function(context, call);
	case STACK_CALLERS:
		return value == VALUE_FUNCTION || reg == LITIFUT_MIPS_T9 || !has_labels(call, data);
	}
	return false;
}
