/* The AVR back end: what images it takes, where their code is, which calls it leaves. There is
 * only firmware, so that the tables of tracers for Linux are not here. */
#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "rewriter/avr/avr.h"

/* `rcall .+0` makes room on the stack. */
#define RCALL_NEXT 0xd000

static enum litifut_status examine(const struct litifut_image *image,
				   struct litifut_arch_context *context,
				   struct litifut_error *error)
{
	struct litifut_avr_image *code = litifut_avr_image_create(image, error);

	if (!code)
		return LITIFUT_ERROR_IO;
	if (image->file.big_endian || !litifut_avr_family(image->file.flags, &code->cpu, NULL)) {
		free(code);
		return litifut_error_set(error, LITIFUT_ERROR_UNSUPPORTED, image->path, NULL,
					 LITIFUT_NO_ADDRESS,
					 "this family of AVR devices is not supported");
	}
	*context = (struct litifut_arch_context){.cpu = {.facts = code}};
	return LITIFUT_OK;
}

static bool is_object(const struct litifut_symbol *symbol, size_t section)
{
	return symbol->type == STT_OBJECT && symbol->section == section;
}

/* A range for each function, which ends where the next function or object begins. What is
 * between is data: vectors, tables in the flash, stubs of the linker. */
static enum litifut_status code_ranges(const struct litifut_image *image,
				       const struct litifut_section *section,
				       struct litifut_code_range **ranges, size_t *count,
				       struct litifut_error *error)
{
	const size_t number = (size_t)(section - image->sections);
	const uint32_t section_end = section->address + section->size;

	*count = 0;
	*ranges = malloc((image->function_count + 1) * sizeof(**ranges));
	if (!*ranges)
		return litifut_error_set(error, LITIFUT_ERROR_IO, image->path, section->name,
					 LITIFUT_NO_ADDRESS, "out of memory");
	for (size_t i = 0; i < image->function_count; i++) {
		const struct litifut_symbol *function = &image->symbols[image->functions[i]];
		struct litifut_code_range range = {function->address, 0, LITIFUT_CODE_PLAIN};
		const struct litifut_symbol *following;

		if (function->section != number || function->address < section->address ||
		    function->address >= section_end || function->address & 1 ||
		    (*count && (*ranges)[*count - 1].start == function->address))
			continue;
		range.end = function->address + function->size;
		following = litifut_image_function_from(image, function->address + 1);
		if (following && following->address < range.end)
			range.end = following->address;
		if (range.end < range.start || range.end > section_end)
			range.end = section_end;
		range.end &= ~1u;
		if (range.end > range.start)
			(*ranges)[(*count)++] = range;
	}
	for (size_t i = 0; i < image->symbol_count; i++) {
		uint32_t address = image->symbols[i].address;

		for (size_t j = 0; j < *count && is_object(&image->symbols[i], number); j++)
			if (address > (*ranges)[j].start && address < (*ranges)[j].end)
				(*ranges)[j].end = address & ~1u;
	}
	return LITIFUT_OK;
}

static unsigned refuse(const struct litifut_arch_context *context,
		       const struct litifut_instruction *instruction, uint32_t address,
		       const uint8_t *following, size_t following_bytes, size_t preceding_bytes,
		       const char *callee_name)
{
	const struct litifut_avr_image *image = context->cpu.facts;

	(void)following;
	(void)following_bytes;
	(void)preceding_bytes;
	(void)callee_name;
	if (instruction->class == LITIFUT_CLASS_CALL_INDIRECT)
		return LITIFUT_SITE_TOO_SHORT;
	if (instruction->length == 2 && instruction->word == RCALL_NEXT)
		return LITIFUT_SITE_NOT_A_CALL;
	if (instruction->length == 4 && image->has_relocations &&
	    !(litifut_avr_marks(context, address) & LITIFUT_AVR_ABSOLUTE))
		return LITIFUT_SITE_NOT_A_CALL; /* data */
	return LITIFUT_SITE_PATCHED;
}

/* Calls of what is not a function: of shared code within one, in two bytes, or of a part of
 * libgcc that has no function's label. */
static unsigned
judge_target(const struct litifut_image *image, const struct litifut_arch_context *context,
	     const struct litifut_section *section, const struct litifut_code_range *range,
	     const struct litifut_symbol *function, struct litifut_instruction *call)
{
	(void)context;
	(void)image;
	(void)section;
	(void)range;
	(void)function;
	if (call->word == RCALL_NEXT)
		return LITIFUT_SITE_NOT_A_CALL;
	return call->length == 2 ? LITIFUT_SITE_LOCAL_SUBROUTINE : LITIFUT_SITE_PATCHED;
}

static uint16_t word_at(const struct litifut_section *section, uint32_t address)
{
	return litifut_get16(false, section->bytes + (address - section->address));
}

static bool is_indirect_tail(const struct litifut_image *image,
			     const struct litifut_arch_context *context,
			     const struct litifut_cramped_call *call,
			     const struct litifut_targets *data)
{
	(void)data;
	return litifut_avr_judge_jump(image, context, call) == LITIFUT_AVR_CALLS;
}

static bool may_be_tail(const struct litifut_image *image,
			const struct litifut_arch_context *context,
			const struct litifut_cramped_call *call)
{
	return litifut_avr_judge_jump(image, context, call) == LITIFUT_AVR_UNSURE;
}

/* Does the address stand in a table for lpm, among code that was written by hand? It goes up to
 * what a relocation shows to be code. */
static bool is_in_table(const struct litifut_arch_context *context, uint32_t start,
			uint32_t address)
{
	const unsigned code = LITIFUT_AVR_ABSOLUTE | LITIFUT_AVR_RELATIVE | LITIFUT_AVR_BRANCH |
			      LITIFUT_AVR_NAMED;

	for (uint32_t at = address + 2; start && at > start; at -= 2) {
		const unsigned marks = litifut_avr_marks(context, at - 2);

		if (marks & (code | LITIFUT_AVR_BYTES))
			return marks & LITIFUT_AVR_BYTES;
	}
	return false;
}

/* Has what the stub of this call replaces room for a branch, and may it be replaced? */
bool litifut_avr_can_detour(const struct litifut_arch_context *context,
			    const struct litifut_cramped_call *call,
			    const struct litifut_targets *targets)
{
	const struct litifut_instruction *instruction = &call->instruction;
	const struct litifut_avr_image *image = context->cpu.facts;
	uint32_t neighbour = call->address - call->before[0];
	struct litifut_instruction moved;
	uint16_t word;

	if (instruction->conditional || is_in_table(context, call->function_start, call->address))
		return false;
	if (litifut_has_target(instruction))
		return instruction->length == 2 || !image->has_relocations ||
		       litifut_avr_marks(context, call->address) & LITIFUT_AVR_ABSOLUTE;
	if (!call->before[0] || call->behind_site || neighbour < call->function_start ||
	    litifut_targets_has(targets, call->address) ||
	    litifut_avr_marks(context, call->address) & LITIFUT_AVR_NAMED)
		return false;
	word = word_at(call->section, neighbour);
	litifut_avr_decode(&context->cpu,
			   call->section->bytes + (neighbour - call->section->address),
			   call->before[0], neighbour, LITIFUT_CODE_PLAIN, &moved);
	/* What follows a skip may not run; ret and the like lead on nowhere. */
	if (moved.class != LITIFUT_CLASS_OTHER || litifut_avr_is_skip(word) ||
	    (word & 0xff0f) == 0x9508 || (!call->tail && litifut_avr_uses_stack(word)))
		return false;
	return neighbour == call->function_start ||
	       (call->before[1] &&
		!litifut_avr_is_skip(word_at(call->section, neighbour - call->before[1])));
}

/* Relocations say which code is named by a pointer: tables of switches and labels. */
static void add_targets(const struct litifut_image *image,
			const struct litifut_arch_context *context,
			const struct litifut_section *section,
			const struct litifut_code_range *ranges, size_t count,
			struct litifut_targets *targets)
{
	(void)image;
	(void)section;
	for (size_t i = 0; i < count; i++)
		for (uint32_t at = ranges[i].start; at < ranges[i].end; at += 2)
			if (litifut_avr_marks(context, at) & LITIFUT_AVR_NAMED)
				litifut_targets_add(targets, at);
}

static const struct litifut_arch_flow flow = {
	.judge_target = judge_target,
	.is_indirect_tail = is_indirect_tail,
	.may_be_tail = may_be_tail,
	.add_targets = add_targets,
};

static const struct litifut_arch_detour detour = {
	.can_detour = litifut_avr_can_detour,
};

const struct litifut_arch litifut_arch_avr = {
	.cpu = &cpu_avr,
	.examine = examine,
	.code_ranges = code_ranges,
	.refuse = refuse,
	.flow = &flow,
	.detour = &detour,
	.edges = &litifut_avr_edges,
};
