/* Is a `bx rN`, `mov pc, rN`, `ldr pc, [...]` or an A32 `sub pc, rN, #n` a tail
 * call? The same instruction ends switches in position-independent T32 code (table
 * entry added to the table's address), is a computed goto, and with lr it is a
 * return. Only what is certain counts:
 *
 * - rN was neither added up, which a switch must do, nor is it an address in the
 *   function, and
 * - on every way to it lr has just been restored from the stack, as the end of a
 *   function does; or lr and sp are as they came (flow.c), and no data holds an
 *   address inside the function, as a computed goto needs.
 *
 * Encodings: DDI 0406C A6.2, A6.3 (T32), A5 (A32). */
#include "rewriter/arm/tail.h"

#include <string.h>

#include "rewriter/arm/flow.h"
#include "rewriter/arm/trampoline.h"
#include "rewriter/image.h"

#define LR 14
#define FIRST_SPECIAL 13 /* sp, lr, pc hold no function */

static bool decode_at(const struct litifut_image *image, uint32_t address,
		      struct litifut_instruction *instruction)
{
	static const struct cpu_context context;
	uint32_t at = address & ~1u;
	const struct litifut_section *section = litifut_image_section_at(image, at, 4);

	return section &&
	       litifut_arm_decode(&context, section->bytes + (at - section->address), 4, at,
				  address & 1 ? LITIFUT_CODE_THUMB : LITIFUT_CODE_PLAIN,
				  instruction) &&
	       instruction->class == LITIFUT_CLASS_BRANCH_DIRECT;
}

/* Cortex-A8: a 32-bit branch across the end of a page goes to a `b.w target`; a
 * conditional one has become a b.w and goes to
 *
 *	b<condition>.n 1f
 *	b.w after the branch
 * 1:	b.w target */
uint32_t litifut_arm_behind_stub(const struct litifut_image *image,
				 struct litifut_instruction *branch)
{
	struct litifut_instruction first;
	struct litifut_instruction last;

	if (!decode_at(image, branch->target, &first))
		return 0;
	if (!first.conditional)
		return first.target;
	if (first.length != 2 || !litifut_arm_condition(first.word, 2) ||
	    !decode_at(image, first.target, &last) || last.conditional)
		return 0;
	branch->conditional = true;
	branch->word = 0xf0008000 | (first.word >> 8 & 15) << 22;
	branch->target = last.target;
	return last.target;
}

static bool has_labels(const struct litifut_cramped_call *call, const struct litifut_targets *data)
{
	for (uint32_t address = call->function_start + 2; address < call->function_end;
	     address += 2)
		if (litifut_targets_has(data, address))
			return true;
	return false;
}

static bool is_own_label(const struct litifut_cramped_call *call, uint32_t at)
{
	const struct litifut_section *section = call->section;
	uint32_t word = litifut_get32(false, section->bytes + (at - section->address));

	return word - call->function_start < call->function_end - call->function_start;
}

/* A32 `ldr pc, [rN, rM, lsl #2]`: the table of a switch, which it alone reads, comes next
 * but for a branch to the default case. */
static bool reads_table(const struct litifut_cramped_call *call, uint32_t table)
{
	const uint8_t *code = call->section->bytes + (table - call->section->address);

	for (uint32_t back = 4; back <= 8 && table - back >= call->function_start; back += 4)
		if ((litifut_get32(false, code - back) & 0x0e50fff0) == 0x0610f100)
			return true;
	return false;
}

/* Does the function hold a word that may be an address inside itself? Jump tables
 * are there, but for those of T32 code that hold distances. */
static bool has_own_labels(const struct litifut_cramped_call *call)
{
	const uint32_t end = call->section->address + call->section->size;
	bool known = false; /* the word before is of the table of a switch */

	for (uint32_t at = (call->function_start + 3) & ~3u; at + 4 <= call->function_end;
	     at += 4) {
		if (at + 4 > end)
			return true;
		if (!is_own_label(call, at))
			known = false;
		else if (!known && (call->instruction.thumb || !reads_table(call, at)))
			return true;
		else
			known = true;
	}
	return false;
}

bool litifut_arm_literal(const struct litifut_cramped_call *call, uint32_t *value)
{
	const struct litifut_section *section = call->section;
	uint32_t word = call->instruction.word;
	uint32_t offset = word & 0x00800000 ? word & 0xfff : -(word & 0xfff);
	uint32_t pc = call->instruction.thumb ? (call->address + 4) & ~3u : call->address + 8;
	uint32_t at = pc + offset - section->address;
	bool loads = call->instruction.thumb ? (word & 0xff7ff000) == 0xf85ff000
					     : (word & 0x0f7ff000) == 0x051ff000;

	if (!loads || at >= section->size || section->size - at < 4)
		return false;
	*value = litifut_get32(false, section->bytes + at);
	return true;
}

/* `ldr pc, [pc, #n]` with the address of something outside of the function. */
static bool loads_other_code(const struct litifut_cramped_call *call)
{
	uint32_t value;

	return litifut_arm_literal(call, &value) &&
	       value - call->function_start >= call->function_end - call->function_start;
}

/* Where GCC's calls through a register arrive in code without Thumb-2, see thumb1.c:
 * behind a literal pool, or one behind the other. */
static bool is_landing(const struct litifut_cramped_call *call)
{
	const uint8_t *code = call->section->bytes + (call->address - call->section->address);

	return call->address != call->function_start &&
	       (!call->before[0] ||
		(call->before[0] == 2 && (litifut_get16(false, code - 2) & 0xff87) == 0x4700));
}

/* A32 `add pc, rN, rM` and kin: a switch. */
static bool adds_registers(const struct litifut_instruction *instruction)
{
	return instruction->class == LITIFUT_CLASS_BRANCH_COMPUTED && !instruction->thumb &&
	       !(instruction->word >> 25 & 7);
}

bool litifut_arm_is_indirect_tail(const struct litifut_image *image,
				  const struct litifut_arch_context *context,
				  const struct litifut_cramped_call *call,
				  const struct litifut_targets *data)
{
	const struct litifut_instruction *instruction = &call->instruction;
	bool computed = instruction->class == LITIFUT_CLASS_BRANCH_COMPUTED;
	bool may_have_table = computed || !instruction->thumb || instruction->word >> 8 == 0x46;

	if (!call->function_end)
		return false;
	if (litifut_arm_short_branches(&context->cpu) && instruction->thumb && is_landing(call))
		return false;
	if (computed && instruction->target_register == 15)
		return loads_other_code(call);
	if (instruction->target_register >= FIRST_SPECIAL || adds_registers(instruction))
		return false;
	switch (litifut_arm_flow_to(image, context, call)) {
	case LITIFUT_ARM_FLOW_RESTORED:
		return true;
	case LITIFUT_ARM_FLOW_CALLERS:
		return !has_labels(call, data) &&
		       !(may_have_table && !context->cpu.position_independent &&
			 has_own_labels(call));
	default:
		return false;
	}
}
