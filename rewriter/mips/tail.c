/* Calls that go through a trampoline of their own, in the room beside the
 * tracer: tail calls, whose branch says nothing of where it comes from, and
 * `jalr rN` with a delay slot that changes rN.
 *
 * A trampoline is four words, or some more:
 *
 *   tail call          delay slot; move at, ra; bal litifut_stub_tail, or
 *                      litifut_thunk_tail or _tail_near; nop
 *                      the same with litifut_thunk_tail_back; b callee; nop
 *   changing slot      move at, rN; delay slot; b litifut_stub_jal; nop
 *
 * The tail call's key in the DB is what the bal leaves in ra; at brings the ra
 * that the callee must get. The other's entry in the DB says `jalr $at`.
 *
 * A site from which a branch reaches the room goes straight there, a tail call
 * with its delay slot kept and the copy of it skipped. Any other takes an island,
 * with the trampoline's number in at, put there in the place of the delay slot:
 *
 *   b     island            or bal
 *   lui   at, number
 *
 * A branch with a condition takes that way where its delay slot is empty and the
 * code behind it does without at. What can't be done so uses a separate relay,
 * which has the number, and keeps its delay slot.
 */
#include "rewriter/mips/mips.h"

#include <litifut/module_format.h>
#include <string.h>

enum { AT = 1, SP = 29 };

#define NOP 0x00000000u
#define JALR_AT 0x0020f809u
#define MOVE_AT_RA 0x03e00825u

static uint32_t word_at(const struct litifut_cramped_call *call,
			const struct litifut_arch_context *context, uint32_t address)
{
	return litifut_get32(context->cpu.big_endian,
			     call->section->bytes + (address - call->section->address));
}

static uint32_t delay_slot(const struct litifut_cramped_call *call,
			   const struct litifut_arch_context *context)
{
	return word_at(call, context, call->address + 4);
}

/* Any of the fields in which an instruction names a register. (In a shift by a
 * constant, the first is not one.) */
static bool may_use_at(uint32_t word)
{
	unsigned operation = word >> 26;
	bool shift = operation == 0 &&
		     ((word & 0x3f) == 0x00 || (word & 0x3f) == 0x02 || (word & 0x3f) == 0x03);
	bool third = operation == 0 || operation == 0x1c || operation == 0x1f;

	return (!shift && (word >> 21 & 31) == AT) || (word >> 16 & 31) == AT ||
	       (third && (word >> 11 & 31) == AT);
}

bool litifut_mips_can_detour(const struct litifut_arch_context *context,
			     const struct litifut_cramped_call *call,
			     const struct litifut_targets *targets)
{
	const struct litifut_instruction *instruction = &call->instruction;
	bool indirect = instruction->class == LITIFUT_CLASS_BRANCH_INDIRECT ||
			instruction->class == LITIFUT_CLASS_CALL_INDIRECT;

	if (instruction->thumb || call->address + 8 > call->section->address + call->section->size)
		return false;
	if (!indirect)
		return call->tail;
	if (instruction->target_register == AT)
		return false;
	uint32_t slot = delay_slot(call, context);

	if (call->tail)
		return !litifut_mips_writes(slot, instruction->target_register);
	/* it goes into the trampoline */
	return !may_use_at(slot) && !litifut_targets_has(targets, call->address + 4);
}

/* Writes the trampoline, and to `detour` what does not depend on the site's
 * way to it. False: the tracer is out of its reach. */
static bool write_trampoline(const struct litifut_arch_context *context,
			     const struct litifut_cramped_call *call, uint32_t address,
			     const struct litifut_gate *gate, uint8_t *code,
			     struct litifut_detour *detour)
{
	const struct litifut_instruction *instruction = &call->instruction;
	unsigned entry = call->tail ? LITIFUT_MIPS_ENTRY_TAIL : LITIFUT_MIPS_ENTRY_CALL;
	uint32_t words[2 * LITIFUT_MIPS_TRAMPOLINE_BYTES / 4] = {delay_slot(call, context),
								 MOVE_AT_RA, 0, NOP};
	unsigned bytes = LITIFUT_MIPS_TRAMPOLINE_BYTES;

	uint32_t target = call->tail && gate->thunk ? gate->thunk : gate->entries[entry];

	words[2] = litifut_mips_jump(&context->cpu, call->tail, address + 8, target);
	if (!words[2])
		return false;
	if (call->tail && gate->thunk &&
	    gate->thunk == gate->entries[LITIFUT_MIPS_ENTRY_THUNK_TAIL_BACK]) {
		words[4] =
			litifut_mips_jump(&context->cpu, false, address + 16, instruction->target);
		if (!words[4])
			return false;
		bytes = sizeof(words);
	}
	*detour = (struct litifut_detour){
		.address = call->address,
		.trampoline_bytes = bytes,
		.thunk = call->tail && gate->thunk,
		.frames = {{.start = address, .bytes = bytes}},
	};
	if (call->tail) {
		/* what it does to the stack pointer is still to be done */
		if (litifut_mips_writes(words[0], SP)) {
			detour->frames[0].bytes = 4;
			detour->frames[0].instruction = call->address;
			detour->frames[1] = (struct litifut_frame_code){.start = address + 4,
									.bytes = bytes - 4};
		}
		detour->return_address = address + 16;
		/* jalr $zero stands there as the jr that it is */
		detour->instruction = instruction->word & ~1u;
		if (instruction->class == LITIFUT_CLASS_BRANCH_DIRECT)
			detour->instruction =
				LITIFUT_MIPS_FAR_BRANCH << 26 |
				((instruction->target - (address + 12)) >> 2 & 0x3ffffff);
	} else {
		words[0] = 0x00000825u | (uint32_t)instruction->target_register << 21;
		words[1] = delay_slot(call, context);
		detour->instruction = JALR_AT;
	}
	for (size_t i = 0; i < bytes / 4; i++)
		litifut_put32(context->cpu.big_endian, code + 4 * i, words[i]);
	return true;
}

bool litifut_mips_write_detour(const struct litifut_arch_context *context,
			       const struct litifut_cramped_call *call, uint32_t address,
			       const struct litifut_gate *gate, uint8_t *trampoline,
			       struct litifut_detour *detour)
{
	uint32_t target = call->tail ? address + 4 : address;
	uint8_t code[8] = {0};

	if (call->tail && call->instruction.conditional) {
		if (!litifut_mips_branch_reaches(call->address, target))
			return false;
		litifut_put32(context->cpu.big_endian, code,
			      litifut_mips_branch(call->instruction.word & 0xffff0000,
						  call->address, target));
	} else {
		uint32_t word =
			litifut_mips_jump(&context->cpu, !call->tail, call->address, target);

		if (!word)
			return false;
		litifut_put32(context->cpu.big_endian, code, word);
	}
	if (!write_trampoline(context, call, address, gate, trampoline, detour))
		return false;
	memcpy(detour->code, code, sizeof(code)); /* a nop follows */
	detour->length = call->tail ? 4 : 8;
	detour->entry = target;
	return true;
}

/* Does a branch of the function lead to the delay slot? */
static bool slot_is_target(const struct litifut_arch_context *context,
			   const struct litifut_cramped_call *call)
{
	uint32_t end = call->section->address + call->section->size;
	uint32_t from = call->function_start;
	uint32_t to = call->function_end < end ? call->function_end : end;

	if (from < call->section->address || from >= to) /* not known */
		return true;
	for (uint32_t at = from; at + 4 <= to; at += 4) {
		struct litifut_instruction instruction;

		litifut_mips_decode(&context->cpu,
				    call->section->bytes + (at - call->section->address), 4, at,
				    LITIFUT_CODE_PLAIN, &instruction);
		if (instruction.class == LITIFUT_CLASS_BRANCH_DIRECT &&
		    instruction.target == call->address + 4)
			return true;
	}
	return false;
}

/* The code behind a branch that was not taken leaves the function, before it
 * branches again, with at unused: no instruction reads what the delay slot put there. */
static bool falls_through_without_at(const struct litifut_arch_context *context,
				     const struct litifut_cramped_call *call)
{
	uint32_t end = call->section->address + call->section->size;
	bool leaves = false;

	for (uint32_t at = call->address + 8; at + 4 <= end && at < call->function_end; at += 4) {
		uint32_t word = word_at(call, context, at);
		struct litifut_instruction instruction;

		if (may_use_at(word))
			return false;
		if (leaves)
			return true;
		litifut_mips_decode(&context->cpu,
				    call->section->bytes + (at - call->section->address), 4, at,
				    LITIFUT_CODE_PLAIN, &instruction);
		if (instruction.class == LITIFUT_CLASS_BRANCH_DIRECT ||
		    (word & 0xffe00000) == 0x45000000) /* bc1t, bc1f */
			return false;
		leaves = instruction.class == LITIFUT_CLASS_BRANCH_INDIRECT;
	}
	return false;
}

bool litifut_mips_encode_numbered(const struct litifut_arch_context *context,
				  const struct litifut_cramped_call *call, uint32_t address,
				  const struct litifut_gate *gate, const uint32_t *island_entries,
				  uint8_t *trampoline, struct litifut_detour *detour)
{
	uint32_t offset = address - (gate->address + LITIFUT_MIPS_GATE_BYTES);
	uint32_t branch = call->tail ? 0x10000000 : 0x04110000;
	uint32_t number;
	unsigned way;

	if (!litifut_mips_number(context, offset, &number, &way))
		return false;
	const uint32_t target = island_entries[way];

	if (!target ||
	    (call->instruction.conditional &&
	     (delay_slot(call, context) != NOP || !falls_through_without_at(context, call))) ||
	    !litifut_mips_branch_reaches(call->address, target) ||
	    may_use_at(delay_slot(call, context)) || slot_is_target(context, call) ||
	    !write_trampoline(context, call, address, gate, trampoline, detour))
		return false;
	if (call->instruction.conditional)
		branch = call->instruction.word & 0xffff0000;
	litifut_put32(context->cpu.big_endian, detour->code,
		      litifut_mips_branch(branch, call->address, target));
	litifut_put32(context->cpu.big_endian, detour->code + 4, number);
	detour->length = 8;
	detour->entry = target;
	return true;
}

bool litifut_mips_write_step(const struct litifut_arch_context *context,
			     const struct litifut_cramped_call *call, uint32_t address,
			     const struct litifut_gate *gate, uint32_t step, uint8_t *trampoline,
			     struct litifut_detour *detour)
{
	uint32_t word = litifut_mips_jump(&context->cpu, false, call->address, step);

	if (call->instruction.conditional)
		word = litifut_mips_branch_reaches(call->address, step)
			       ? litifut_mips_branch(call->instruction.word & 0xffff0000,
						     call->address, step)
			       : 0;
	if (!call->tail || !word ||
	    !write_trampoline(context, call, address, gate, trampoline, detour))
		return false;
	litifut_put32(context->cpu.big_endian, trampoline, NOP); /* the delay slot stays */
	litifut_put32(context->cpu.big_endian, detour->code, word);
	detour->length = 4;
	detour->entry = step;
	return true;
}
