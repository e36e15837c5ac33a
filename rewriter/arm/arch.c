/* The ARM back end: what images it takes, where their code is, which calls it
 * leaves, and the table that the rest of the rewriter sees. */
#include "rewriter/arm/arm.h"
#include "rewriter/arm/detour.h"
#include "rewriter/arm/edge.h"
#include "rewriter/arm/exit.h"
#include "rewriter/arm/formed.h"
#include "rewriter/arm/landing_pads.h"
#include "rewriter/arm/numbers.h"
#include "rewriter/arm/scaled_jump.h"
#include "rewriter/arm/stone.h"
#include "rewriter/arm/table_call.h"
#include "rewriter/arm/tail.h"
#include "rewriter/arm/thumb1.h"
#include "rewriter/arm/thunk.h"
#include "rewriter/arm/trampoline.h"
#include "rewriter/arm/unwind.h"
#include "rewriter/image.h"
#include "rewriter/program_code.h"

#include <elf.h>
#include <litifut/module_format.h>
#include <stdlib.h>
#include <string.h>

static enum litifut_status examine(const struct litifut_image *image,
				   struct litifut_arch_context *context,
				   struct litifut_error *error)
{
	const struct litifut_section *attributes = litifut_image_section(image, ".ARM.attributes");

	if (image->file.big_endian)
		return litifut_error_set(error, LITIFUT_ERROR_UNSUPPORTED, image->path, NULL,
					 LITIFUT_NO_ADDRESS, "big-endian ARM is not supported");
	if ((image->file.flags & EF_ARM_EABIMASK) < EF_ARM_EABI_VER4)
		return litifut_error_set(error, LITIFUT_ERROR_UNSUPPORTED, image->path, NULL,
					 LITIFUT_NO_ADDRESS, "ARM code older than the EABI");
	struct litifut_arm_facts *facts = calloc(1, sizeof(*facts));

	if (!facts)
		return litifut_error_memory(error, image->path);
	facts->short_thumb_branches =
		attributes && !litifut_arm_attributes_thumb2(attributes->bytes, attributes->size);
	facts->shares_thunks = !litifut_arm_is_for_v7(image);
	*context = (struct litifut_arch_context){
		.cpu = {.position_independent = image->file.type == ET_DYN, .facts = facts}};
	return LITIFUT_OK;
}

/* Index of the first symbol of section number `number`. */
static size_t first_symbol(const struct litifut_image *image, size_t number)
{
	size_t low = 0;
	size_t high = image->symbol_count;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (image->symbols[middle].section < number)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Where gold has put stubs behind the code that ends at `end` and before `next`, which have
 * no symbol: their constants would be taken for calls. 0: there are none. They stand at
 * multiples of 4 or 8. */
static uint32_t unnamed_stubs(const struct litifut_section *section, uint32_t end, uint32_t next)
{
	static const uint32_t openings[] = {
		0xe51ff004, /* ldr pc, [pc, #-4] */
		0xe59fc000, /* ldr ip, [pc] */
		0xe59fc004, /* ldr ip, [pc, #4] */
		0x46c04778, /* bx pc; nop */
		0x4802b401, /* push {r0}; ldr r0, [pc, #8] */
	};

	for (uint32_t alignment = 4; alignment <= 8; alignment += 4) {
		uint32_t start = (end + alignment - 1) & ~(alignment - 1);
		uint32_t word;

		if (!section->bytes || start < end || start >= next || next - start < 8)
			continue;
		word = litifut_get32(false, section->bytes + (start - section->address));
		for (size_t i = 0; i < sizeof(openings) / sizeof(openings[0]); i++)
			if (word == openings[i])
				return start;
	}
	return 0;
}

/* A walk over the symbols of a section: up to where the code belongs to a function that has
 * a size; 0: there is none. */
static uint32_t next_covered(uint32_t covered, const struct litifut_symbol *symbol)
{
	if (symbol->type == STT_FUNC && symbol->size) {
		uint32_t end = symbol->address + symbol->size;

		return end > covered ? end : covered;
	}
	return symbol->address >= covered ? 0 : covered;
}

/* Makes data of such stubs. */
static void end_at_stubs(const struct litifut_section *section, uint32_t covered, uint32_t next,
			 struct litifut_code_range *ranges, size_t *count)
{
	uint32_t start = 0;

	if (*count && covered >= section->address && next > covered &&
	    next - section->address <= section->size)
		start = unnamed_stubs(section, covered, next);
	if (!start || ranges[*count - 1].state == LITIFUT_CODE_DATA ||
	    ranges[*count - 1].start >= start)
		return;
	ranges[*count - 1].end = start;
	ranges[*count] = (struct litifut_code_range){start, section->address + section->size,
						     LITIFUT_CODE_DATA};
	++*count;
}

/* Is there room before `address` that no function has, with the first half of an instruction at its
 * end? The linker has filled it with what the script says (`=0xff`); without that half the code
 * behind it would be read from its middle. */
static bool is_behind_filling(const struct litifut_section *section, uint32_t covered,
			      uint32_t address)
{
	return section->bytes && address >= section->address + 2 && covered < address &&
	       litifut_get16(false, section->bytes + (address - 2 - section->address)) >= 0xe800;
}

enum litifut_status litifut_arm_code_ranges(const struct litifut_image *image,
					    const struct litifut_section *section,
					    struct litifut_code_range **ranges, size_t *count,
					    struct litifut_error *error)
{
	size_t number = (size_t)(section - image->sections);
	size_t first = first_symbol(image, number);
	size_t last = first_symbol(image, number + 1);
	const uint32_t section_end = section->address + section->size;
	size_t marks = 1;
	uint32_t covered = 0;
	uint32_t here = 0;   /* the address of the symbol before */
	uint32_t before = 0; /* up to where functions that begin before `here` have a size */
	uint32_t ends = 0;   /* and all up to now */
	enum litifut_code_state state;

	for (size_t i = first; i < last; i++)
		marks += image->symbols[i].mapping + (image->symbols[i].type == STT_FUNC);
	*count = 0;
	*ranges = malloc((marks + 1) * sizeof(**ranges));
	if (!*ranges)
		return litifut_error_set(error, LITIFUT_ERROR_IO, image->path, section->name,
					 LITIFUT_NO_ADDRESS, "out of memory");
	for (size_t i = first; i < last; i++) {
		const struct litifut_symbol *symbol = &image->symbols[i];

		if (covered)
			end_at_stubs(section, covered, symbol->address, *ranges, count);
		covered = next_covered(covered, symbol);
		if (symbol->address != here)
			before = ends;
		here = symbol->address;
		if (covered > ends)
			ends = covered;
		/* gold and lld leave the room for trampolines to the code before it */
		if (symbol->type == STT_FUNC && !strcmp(symbol->name, LITIFUT_TRAMPOLINES))
			state = LITIFUT_CODE_DATA;
		else if (!symbol->mapping || !litifut_arm_mapping(symbol->name, &state))
			continue;
		if (symbol->address < section->address ||
		    symbol->address - section->address >= section->size)
			continue;
		if (*count) {
			struct litifut_code_range *previous = &(*ranges)[*count - 1];

			if (previous->state == state &&
			    (state != LITIFUT_CODE_THUMB ||
			     !is_behind_filling(section, before, symbol->address)))
				continue;
			previous->end = symbol->address;
			if (previous->start == previous->end)
				--*count;
		}
		(*ranges)[(*count)++] =
			(struct litifut_code_range){symbol->address, section_end, state};
	}
	if (covered)
		end_at_stubs(section, covered, section_end, *ranges, count);
	if (section->bytes) {
		enum litifut_status status;

		litifut_arm_join_numbers(image, section, *ranges, count);
		status = litifut_arm_cut_tables(image, section, ranges, count, error);
		if (status)
			return status;
	}
	/* mold does not mark its PLT, which is A32 code */
	if (!*count && section->size && litifut_section_is_linkage(section))
		(*ranges)[(*count)++] = (struct litifut_code_range){section->address, section_end,
								    LITIFUT_CODE_PLAIN};
	if (!*count && section->size) {
		free(*ranges);
		*ranges = NULL;
		return litifut_error_set(error, LITIFUT_ERROR_MISSING, image->path, section->name,
					 section->address,
					 "no mapping symbols ($a, $t, $d) to find the code by");
	}
	return LITIFUT_OK;
}

static unsigned refuse(const struct litifut_arch_context *context,
		       const struct litifut_instruction *instruction, uint32_t address,
		       const uint8_t *following, size_t following_bytes, size_t preceding_bytes,
		       const char *callee_name)
{
	(void)address;
	(void)following;
	(void)following_bytes;
	(void)preceding_bytes;
	/* lr points at a jump table that the helper reads and jumps through; a veneer may lead to
	 * it. */
	if (strstr(callee_name, LITIFUT_ARM_TABLE_HELPER))
		return LITIFUT_SITE_NOT_A_CALL;
	if (instruction->class == LITIFUT_CLASS_CALL_INDIRECT) {
		/* A `bl` in the place of `blx lr` would overwrite the callee, and without
		 * Thumb-2 nothing else reaches; pc holds no function. */
		bool lr = litifut_arm_is_blx_lr(instruction);

		if (instruction->target_register >= 14 &&
		    (!lr || (instruction->thumb && litifut_arm_short_branches(&context->cpu))))
			return LITIFUT_SITE_SPECIAL_CALLEE;
		if (instruction->length == 2 || lr)
			return LITIFUT_SITE_TOO_SHORT;
	}
	return LITIFUT_SITE_PATCHED;
}

static unsigned entry(const struct litifut_arch_context *context,
		      const struct litifut_instruction *instruction)
{
	(void)context;
	(void)instruction;
	return LITIFUT_ARM_ENTRY_CALL;
}

static bool needs_db(const struct litifut_arch_context *context,
		     const struct litifut_instruction *instruction)
{
	(void)context;
	(void)instruction;
	return true;
}

static const struct litifut_arch_sizes sizes = {
	.indirect_in_db = true,
	/* 21 and 8 on average in busybox, more in lua */
	.call_trampoline_bytes = 28,
	.tail_trampoline_bytes = 14,
	.thunk_bytes = 52,
	.near_thunk_bytes = 44,
	.thunk_encoding = LITIFUT_CODE_THUMB,
	.older_thunk_bytes = 40,
	.older_near_thunk_bytes = 16,
	.direct_in_db = 128,
	.reach = 16u << 20,
	.far_reach = 32u << 20,
	.island_interval = 24u << 20,
};

static bool only_fills(const uint8_t *code, uint32_t bytes, bool thumb)
{
	for (uint32_t at = 0, length; at < bytes; at += length) {
		length = litifut_arm_filler_bytes(code + at, bytes - at, thumb);
		if (!length)
			return false;
	}
	return true;
}

static const struct litifut_arch_flow flow = {
	.judge_target = litifut_arm_judge_target,
	.behind_stub = litifut_arm_behind_stub,
	.is_indirect_tail = litifut_arm_is_indirect_tail,
	.add_targets = litifut_arm_add_targets,
	.add_computed = litifut_arm_add_scaled,
	.form_addresses = litifut_arm_form_addresses,
	.only_fills = only_fills,
	.landing_pads = litifut_arm_landing_pads,
	.add_personalities = litifut_arm_personalities,
};

static const struct litifut_arch_detour detour = {
	.gate_bytes = LITIFUT_ARM_GATE_BYTES,
	.gate_rules = {0x40 | LITIFUT_ARM_GATE_LR, 0x0e, 8},
	.trampolines_in_islands = true,
	.trampoline_bytes_max = LITIFUT_ARM_TRAMPOLINE_BYTES_MAX,
	.write_gate = litifut_arm_write_gate,
	.can_detour = litifut_arm_can_detour,
	.find_stone = litifut_arm_find_stone,
	.write_detour = litifut_arm_write_detour,
};

static const struct litifut_arch_thunks thunks = {
	.refuses_thunks = litifut_arm_refuses_thunks,
	.refuses_counters = litifut_arm_refuses_counters,
	.thunk = litifut_arm_thunk,
	.write_thunk = litifut_arm_write_thunk,
	.thunk_frame = litifut_arm_thunk_frame,
	.has_counter = true,
};

static const struct litifut_arch_returns returns = {
	.judge_exit = litifut_arm_judge_exit,
	.write_exit = litifut_arm_write_exit,
	.lead_branch = litifut_arm_lead_branch,
	.exit_bytes_max = LITIFUT_ARM_EXIT_BYTES_MAX,
	.exit_bytes_usual = {24, 24},
	.exit_thunk_bit = 1,
};

/* The code of tracer/arm/thunk_shared.S: so many bytes on the stack, and registers so many
 * words below where it was. */
#define STACK(bytes) 0x0e, bytes
#define SAVED(number, words) 0x80 | (number), words
#define SAVED_R0_TO_R5(words)                                                                      \
	SAVED(0, words), SAVED(1, (words)-1), SAVED(2, (words)-2), SAVED(3, (words)-3),            \
		SAVED(4, (words)-4), SAVED(5, (words)-5)

static const struct litifut_named_frame named_frames[] = {
	{"litifut_thunk_shared", {STACK(32), SAVED_R0_TO_R5(8), SAVED(12, 2), SAVED(14, 1)}},
	{"litifut_thunk_shared_tail", {STACK(36), SAVED_R0_TO_R5(9), SAVED(12, 3), SAVED(14, 1)}},
	{"litifut_thunk_pointer",
	 {STACK(36), SAVED_R0_TO_R5(9), SAVED(6, 3), SAVED(12, 2), SAVED(14, 1)}},
	{"litifut_thunk_pointer_tail",
	 {STACK(40), SAVED_R0_TO_R5(10), SAVED(6, 4), SAVED(12, 3), SAVED(14, 1)}},
	{"litifut_thunk_shared_back", {STACK(16), SAVED(14, 1)}},
	{"litifut_thunk_pointer_back", {STACK(16), SAVED(14, 1)}},
	{"litifut_thunk_shared_back_tail", {STACK(20), SAVED(14, 1)}},
	{"litifut_thunk_pointer_back_tail", {STACK(20), SAVED(14, 1)}},
	{NULL, {0}}};

static const struct litifut_arch_frames frames = {
	.named_frames = named_frames,
	.debug_section_type = SHT_PROGBITS,
	.unwind = &litifut_arm_unwind_table,
	.frame_registers = {.stack_pointer = 13, .return_address = 14, .program_counter = 15},
};

const struct litifut_arch litifut_arch_arm = {
	.cpu = &cpu_arm,
	.sizes = &sizes,
	.entry_names = {[LITIFUT_ARM_ENTRY_CALL] = "litifut_stub",
			[LITIFUT_ARM_ENTRY_TAIL] = "litifut_stub_tail",
			[LITIFUT_ARM_ENTRY_THUNK] = "litifut_thunk_call",
			[LITIFUT_ARM_ENTRY_THUNK_TAIL] = "litifut_thunk_tail",
			[LITIFUT_ARM_ENTRY_LR] = "litifut_stub_lr",
			[LITIFUT_ARM_ENTRY_SHARED] = "litifut_thunk_shared",
			[LITIFUT_ARM_ENTRY_SHARED_TAIL] = "litifut_thunk_shared_tail",
			[LITIFUT_ARM_ENTRY_POINTER] = "litifut_thunk_pointer",
			[LITIFUT_ARM_ENTRY_POINTER_TAIL] = "litifut_thunk_pointer_tail"},
	.entry_count = LITIFUT_ARM_ENTRIES,
	.common_entries = LITIFUT_ARM_ENTRY_SHARED,
	.island_bytes = LITIFUT_ARM_ISLAND_BYTES,
	.examine = examine,
	.code_ranges = litifut_arm_code_ranges,
	.refuse = refuse,
	.entry = entry,
	.needs_db = needs_db,
	.write_island = litifut_arm_write_island,
	.flow = &flow,
	.detour = &detour,
	.thunks = &thunks,
	.frames = &frames,
	.returns = &returns,
	.edges = &litifut_arm_edges,
};
