/* Which of the 16-bit `blx rN` calls and tail calls can go through a trampoline, and the
 * replacement of the original code; trampoline.c says how they look. */
#include "rewriter/arm/detour.h"

#include <elf.h>
#include <string.h>

#include "rewriter/arm/stone.h"
#include "rewriter/arm/table_call.h"
#include "rewriter/arm/tail.h"
#include "rewriter/arm/thumb1.h"
#include "rewriter/arm/trampoline.h"
#include "rewriter/arm/word_table.h"

/* The page of the kernel that has code for programs to call. */
#define KERNEL_HELPERS 0xffff0000u

static const uint8_t *bytes_at(const struct litifut_cramped_call *call, uint32_t address)
{
	return call->section->bytes + (address - call->section->address);
}

/* An `it` whose block is one instruction: a branch around that, with the other condition. 0: it is
 * something else. */
static uint16_t branch_around(uint16_t half)
{
	const unsigned condition = half >> 4 & 0xf;

	return litifut_arm_it_length(half) == 1 && condition < 14
		       ? (uint16_t)(0xd000 | (condition ^ 1) << 8)
		       : 0;
}

/* Does the call, or the instruction before it, stand in an IT block, or that one in one of vpt? Not
 * if the `it` can move with the call. */
static bool near_it_block(const struct litifut_cramped_call *call)
{
	uint32_t address = call->address;

	for (unsigned i = 0; i < LITIFUT_REMEMBERED && call->before[i]; i++) {
		address -= call->before[i];
		uint32_t word = litifut_get16(false, bytes_at(call, address));

		if (call->before[i] == 4)
			word = word << 16 | litifut_get16(false, bytes_at(call, address) + 2);
		unsigned length = litifut_arm_block_length(word, call->before[i]);

		if (i == 0 && length && call->before[i] == 2 &&
		    branch_around(litifut_get16(false, bytes_at(call, address))))
			return false;
		if (length && (i == 0 || length >= i))
			return true;
	}
	return false;
}

static struct litifut_arm_displaced displaced(const struct litifut_cramped_call *call)
{
	struct litifut_arm_displaced before = {
		.address = call->address - call->before[0],
		.length = call->before[0],
	};
	const uint8_t *code = bytes_at(call, before.address);

	before.instruction = litifut_get16(false, code);
	if (before.length == 4)
		before.instruction = before.instruction << 16 | litifut_get16(false, code + 2);
	else if (branch_around((uint16_t)before.instruction))
		before.instruction = branch_around((uint16_t)before.instruction);
	return before;
}

/* Is there room for a branch in the place of the call alone? */
static bool fits_in_place(const struct litifut_cramped_call *call)
{
	return !call->instruction.thumb || call->instruction.length == 4 || call->stone_bytes;
}

static bool is_computed(const struct litifut_instruction *instruction)
{
	return instruction->class == LITIFUT_CLASS_CALL_COMPUTED ||
	       instruction->class == LITIFUT_CLASS_BRANCH_COMPUTED;
}

bool litifut_arm_can_detour(const struct litifut_arch_context *context,
			    const struct litifut_cramped_call *call,
			    const struct litifut_targets *targets)
{
	struct litifut_arm_displaced before;
	uint32_t literal;

	/* From the pc: it would be another one, but for a literal, which is copied. It
	 * is a number for certain only where no relocation can change it, and where it leads
	 * to code: libffi executes copies of such code, with words of their own there. */
	if (is_computed(&call->instruction) && call->instruction.target_register == 15 &&
	    (context->cpu.position_independent || !litifut_arm_literal(call, &literal) ||
	     (literal < KERNEL_HELPERS && !litifut_targets_has(targets, literal & ~1u))))
		return false;
	if (!call->instruction.thumb)
		return true;
	/* Without Thumb-2 there is no branch that reaches and keeps lr. */
	if (litifut_arm_short_branches(&context->cpu) && call->tail)
		return false;
	if (fits_in_place(call))
		return true;
	if (!call->before[0] || call->behind_site || near_it_block(call) ||
	    litifut_targets_has(targets, call->address))
		return false;
	before = displaced(call);
	return litifut_arm_short_branches(&context->cpu) ? litifut_arm_thumb1_displaceable(&before)
							 : litifut_arm_displaceable(&before);
}

/* What the DB holds of an A32 call or tail call that is known by `link`. False:
 * the callee is out of its reach. */
static bool plain_instruction(const struct litifut_cramped_call *call, uint32_t link,
			      uint32_t *instruction)
{
	uint32_t offset = call->instruction.target - (link + 4);

	switch (call->instruction.class) {
	case LITIFUT_CLASS_CALL_DIRECT:
	case LITIFUT_CLASS_BRANCH_DIRECT:
		*instruction = (call->tail ? 0xea000000 : 0xeb000000) | (offset >> 2 & 0xffffff);
		return offset + (1u << 25) < 1u << 26;
	case LITIFUT_CLASS_BRANCH_INDIRECT: /* mov pc, rN as well */
		*instruction = 0xe12fff10 | call->instruction.target_register;
		return true;
	case LITIFUT_CLASS_BRANCH_COMPUTED:
		*instruction = call->instruction.word | 0xf0000000;
		break;
	default:
		*instruction = call->instruction.word;
		break;
	}
	if (litifut_arm_literal(call, &offset)) /* it stands there now: ldr pc, [pc, #-4] */
		*instruction = (*instruction & 0xff7ff000) | 4;
	return true;
}

/* An A32 tail call, or any whose lr must be kept: str lr, [sp, #-4]!; bl entry. A
 * condition stays at the site. */
static bool write_plain_tail(const struct litifut_cramped_call *call, uint32_t address,
			     const struct litifut_gate *gate, uint8_t *trampoline,
			     struct litifut_detour *detour)
{
	static const struct cpu_context context = {0};
	static const struct litifut_instruction always = {.length = 4, .word = 0xeb000000};
	uint32_t condition = call->instruction.word & 0xf0000000;
	uint32_t to_here = address - (call->address + 8);
	uint32_t literal;

	detour->address = call->address;
	detour->length = 4;
	detour->trampoline_bytes = gate->thunk ? 12 : 8;
	detour->return_address = address + 8;
	if (!plain_instruction(call, detour->return_address, &detour->instruction))
		return false;
	detour->frames[0] = (struct litifut_frame_code){
		address, detour->trampoline_bytes, 0, {{4, 4, 0}, {8, 0, 0}}, 2};
	litifut_put32(false, trampoline, 0xe52de004);
	if (to_here + (1u << 25) >= 1u << 26 ||
	    !litifut_arm_encode_call(&context, &always, address + 4,
				     gate->thunk ? gate->thunk
						 : gate->entries[LITIFUT_ARM_ENTRY_TAIL],
				     trampoline + 4))
		return false;
	if (gate->thunk) /* as in the DB, but one instruction further on */
		litifut_put32(false, trampoline + 8,
			      call->instruction.class == LITIFUT_CLASS_BRANCH_DIRECT
				      ? 0xea000000 | ((detour->instruction - 1) & 0xffffff)
				      : (detour->instruction & 0x0fffffff) | 0xe0000000);
	if (litifut_arm_literal(call, &literal)) {
		litifut_put32(false, trampoline + detour->trampoline_bytes, literal);
		detour->trampoline_bytes += 4;
	}
	litifut_put32(false, detour->code, condition | 0x0a000000 | (to_here >> 2 & 0xffffff));
	return true;
}

/* What takes the place of the call and of `before`, once the trampoline is written. */
static bool replace_site(const struct litifut_cramped_call *call,
			 const struct litifut_arm_displaced *before, uint32_t address,
			 uint8_t *trampoline, struct litifut_detour *detour)
{
	if (call->stone_bytes) {
		unsigned used = detour->trampoline_bytes;
		unsigned more = litifut_arm_stone_write(call, address, address + used,
							trampoline + used, detour);

		detour->trampoline_bytes += more;
		detour->frames[1] = (struct litifut_frame_code){
			.start = address + used, .bytes = more, .instruction = call->stone};
		return more != 0;
	}
	detour->address = before->address;
	detour->length = before->length + call->instruction.length;
	if (detour->length == 6) /* what is left of the call is never executed: a nop */
		litifut_put16(false, detour->code + 4, 0xbf00);
	return litifut_arm_branch_write(before->address, address, detour->code);
}

/* What the DB holds of a direct T32 tail call that is known by `link`: a b.w, or
 * where that gets no farther the A32 blx imm, which reaches twice as far and can
 * be no instruction of T32 callers; see litifut_arm_next_pc(). */
static bool direct_tail(uint32_t link, uint32_t target, uint32_t *instruction)
{
	uint32_t offset = target - ((link & ~3u) + 4);
	uint8_t branch[4];

	if (litifut_arm_branch_write(link - 4, target, branch))
		*instruction = (uint32_t)litifut_get16(false, branch) << 16 |
			       litifut_get16(false, branch + 2);
	else
		*instruction = 0xfa000000 | (offset & 2) << 23 | (offset >> 2 & 0xffffff);
	return offset + (1u << 25) < 1u << 26;
}

static bool write_thumb_tail(const struct litifut_cramped_call *call, uint32_t address,
			     const struct litifut_gate *gate, uint8_t *trampoline,
			     struct litifut_detour *detour)
{
	struct litifut_arm_displaced before = {.address = call->address};
	struct litifut_arm_tail tail = {
		/* The branch to a stone is conditional itself. */
		.branch = call->stone_bytes ? 0
					    : litifut_arm_condition(call->instruction.word,
								    call->instruction.length),
		.back = call->address + call->instruction.length,
		.entry = gate->thunk ? gate->thunk : gate->entries[LITIFUT_ARM_ENTRY_TAIL],
		.goes_on = gate->thunk != 0,
		.callee = call->instruction.target,
		.callee_register = call->instruction.target_register,
	};

	uint32_t literal;

	if (!fits_in_place(call))
		before = displaced(call);
	detour->trampoline_bytes = litifut_arm_tail_write(&before, &tail, address, trampoline);
	detour->return_address = tail.link;
	detour->instruction = call->instruction.word;
	if (!detour->trampoline_bytes)
		return false;
	if (litifut_arm_literal(call, &literal)) { /* ldr.w pc, [pc, #n] of its own */
		uint32_t at = address + detour->trampoline_bytes;

		litifut_put32(false, trampoline + detour->trampoline_bytes, literal);
		detour->trampoline_bytes += 4;
		detour->instruction = 0xf8dff000 | (at - (tail.link & ~3u));
	}
	/* from the key on, the stack is the caller's again */
	detour->frames[0] = (struct litifut_frame_code){
		address,
		detour->trampoline_bytes,
		0,
		{{tail.pushed, 4, 0}, {(tail.link & ~1u) - address, 0, 0}},
		2};
	if (call->instruction.class == LITIFUT_CLASS_BRANCH_DIRECT &&
	    !direct_tail(tail.link & ~1u, call->instruction.target & ~1u, &detour->instruction))
		return false;
	return replace_site(call, &before, address, trampoline, detour);
}

static bool write_lr(const struct litifut_cramped_call *call, uint32_t address,
		     const struct litifut_gate *gate, uint8_t *trampoline,
		     struct litifut_detour *detour)
{
	struct litifut_arm_displaced before = {.address = call->address};
	uint32_t to_here = address - (call->address + 8);
	unsigned pushed = 0;
	unsigned push_bytes = call->instruction.thumb ? 2 : 4;

	if (!fits_in_place(call))
		before = displaced(call);
	if (call->instruction.thumb)
		detour->trampoline_bytes = litifut_arm_lr_write(
			&before, address, gate->address + LITIFUT_ARM_GATE_LR, trampoline, &pushed);
	else
		detour->trampoline_bytes =
			litifut_arm_lr_write_plain(call->address + 4, address,
						   gate->entries[LITIFUT_ARM_ENTRY_LR], trampoline);
	detour->frames[0] = (struct litifut_frame_code){
		address,
		detour->trampoline_bytes,
		before.address,
		{{pushed + push_bytes, 4, 0}, {pushed + 2 * push_bytes, 8, 0}},
		2};
	if (call->instruction.thumb)
		return replace_site(call, &before, address, trampoline, detour);
	detour->address = call->address;
	detour->length = 4;
	litifut_put32(false, detour->code,
		      (call->instruction.word & 0xf0000000) | 0x0a000000 |
			      (to_here >> 2 & 0xffffff));
	return detour->trampoline_bytes && to_here + (1u << 25) < 1u << 26;
}

bool litifut_arm_write_detour(const struct litifut_arch_context *context,
			      const struct litifut_cramped_call *call, uint32_t address,
			      const struct litifut_gate *gate, uint8_t *trampoline,
			      struct litifut_detour *detour)
{
	struct litifut_arm_displaced before = {.address = call->address};

	if (litifut_arm_is_blx_lr(&call->instruction))
		return write_lr(call, address, gate, trampoline, detour);
	if (!call->instruction.thumb)
		return write_plain_tail(call, address, gate, trampoline, detour);
	if (call->tail)
		return write_thumb_tail(call, address, gate, trampoline, detour);
	if (!call->stone_bytes)
		before = displaced(call);
	if (litifut_arm_short_branches(&context->cpu)) {
		detour->address = before.address;
		detour->length = 4;
		detour->trampoline_bytes = litifut_arm_thumb1_write(
			&before, address, gate->entries[LITIFUT_ARM_ENTRY_CALL], trampoline,
			detour->code);
		detour->frames[0] = (struct litifut_frame_code){.start = address,
								.bytes = detour->trampoline_bytes};
		return detour->trampoline_bytes != 0;
	}
	detour->trampoline_bytes = litifut_arm_trampoline_write(
		&before, address, gate->thunk ? gate->thunk & ~1u : gate->address, trampoline);
	detour->frames[0] = (struct litifut_frame_code){
		.start = address, .bytes = detour->trampoline_bytes, .instruction = before.address};
	return replace_site(call, &before, address, trampoline, detour);
}

void litifut_arm_write_gate(const struct litifut_arch_context *context, uint32_t address,
			    const uint32_t *entries, uint8_t *code)
{
	(void)context;
	litifut_arm_gate_write(address, entries[LITIFUT_ARM_ENTRY_CALL],
			       entries[LITIFUT_ARM_ENTRY_LR], code);
}

/* TBB and TBH [pc, rN]: a table of distances, in halfwords, follows at once. */
static void add_table_branch(const struct litifut_section *section, uint32_t address,
			     const struct litifut_code_range *table,
			     struct litifut_targets *targets)
{
	const uint8_t *code = section->bytes + (address - section->address);
	uint16_t second = litifut_get16(false, code + 2);
	bool halfwords = second & 0x10;

	if (litifut_get16(false, code) != 0xe8df || (second & 0xffe0) != 0xf000)
		return;
	for (uint32_t at = table->start; at + (halfwords ? 2 : 1) <= table->end;
	     at += halfwords ? 2 : 1) {
		const uint8_t *entry = section->bytes + (at - section->address);
		uint32_t distance = halfwords ? litifut_get16(false, entry) : *entry;

		litifut_targets_add(targets, address + 4 + 2 * distance);
	}
}

/* Addresses in literal pools, and tables of them, in code for a fixed address. */
static void add_addresses(const struct litifut_section *section,
			  const struct litifut_code_range *data, struct litifut_targets *targets)
{
	for (uint32_t at = (data->start + 3) & ~3u; at + 4 <= data->end; at += 4)
		litifut_targets_add(targets,
				    litifut_get32(false, section->bytes + (at - section->address)));
}

void litifut_arm_add_targets(const struct litifut_image *image,
			     const struct litifut_arch_context *context,
			     const struct litifut_section *section,
			     const struct litifut_code_range *ranges, size_t count,
			     struct litifut_targets *targets)
{
	(void)context;
	for (size_t i = 0; i < count; i++) {
		if (ranges[i].state != LITIFUT_CODE_DATA)
			continue;
		litifut_arm_add_word_table(image, section, &ranges[i], targets);
		if (i)
			litifut_arm_add_table_call(image, section, &ranges[i - 1], &ranges[i],
						   targets);
		if (image->file.type != ET_DYN)
			add_addresses(section, &ranges[i], targets);
		if (i && ranges[i - 1].state == LITIFUT_CODE_THUMB &&
		    ranges[i].start - ranges[i - 1].start >= 4)
			add_table_branch(section, ranges[i].start - 4, &ranges[i], targets);
	}
}
