/* The MIPS back end: what images it takes, where their code is, which calls it
 * leaves, and the table that the rest of the rewriter sees. */
#include "rewriter/landing_pads.h"
#include "rewriter/mips/edge.h"
#include "rewriter/mips/held.h"
#include "rewriter/mips/mips.h"

#include <elf.h>
#include <litifut/module_format.h>
#include <stdlib.h>
#include <string.h>

#define ARCH_32R6 0x90000000u
#define ARCH_64R6 0xa0000000u
#define ABI_MASK 0x0000f000u
#define ABI_O32 0x00001000u

/* st_other (psABI, and binutils for the newer two) */
#define EF_MIPS_MICROMIPS 0x02000000u
#define OTHER_ISA_MASK 0xc0u
#define OTHER_MICROMIPS 0x80u
#define OTHER_MIPS16 0xf0u

static enum litifut_status examine(const struct litifut_image *image,
				   struct litifut_arch_context *context,
				   struct litifut_error *error)
{
	uint32_t level = image->file.flags & EF_MIPS_ARCH;
	const char *refused = NULL;

	if (level == ARCH_32R6 || level == ARCH_64R6)
		refused = "MIPS release 6 is not supported";
	else if (image->file.flags & EF_MIPS_ABI2)
		refused = "the n32 ABI is not supported, only o32";
	else if ((image->file.flags & ABI_MASK) && (image->file.flags & ABI_MASK) != ABI_O32)
		refused = "not the o32 ABI";
	if (refused)
		return litifut_error_set(error, LITIFUT_ERROR_UNSUPPORTED, image->path, NULL,
					 LITIFUT_NO_ADDRESS, "%s", refused);
	const struct litifut_symbol *pointer = litifut_image_symbol(image, "_gp");
	struct litifut_mips_facts *facts = calloc(1, sizeof(*facts));

	if (!facts)
		return litifut_error_memory(error, image->path);
	facts->global_pointer = pointer ? pointer->address : 0;
	*context = (struct litifut_arch_context){
		.cpu = {.big_endian = image->file.big_endian,
			.position_independent = image->file.type == ET_DYN,
			.facts = facts},
		.offset_base = facts->global_pointer,
		.pointers = {.alignment = 4}};
	litifut_mips_find_got(image, context, facts);
	litifut_mips_find_pages(image, context, facts);
	return LITIFUT_OK;
}

/* In objects st_other says it. The linker takes the mark for MIPS16 away and
 * leaves bit 0 of the address, which both encodings have. */
static enum litifut_code_state symbol_state(const struct litifut_image *image,
					    const struct litifut_symbol *symbol)
{
	if ((symbol->other & OTHER_MIPS16) == OTHER_MIPS16)
		return LITIFUT_CODE_MIPS16;
	if ((symbol->other & OTHER_ISA_MASK) == OTHER_MICROMIPS)
		return LITIFUT_CODE_MICROMIPS;
	if (symbol->thumb)
		return image->file.flags & EF_MIPS_MICROMIPS ? LITIFUT_CODE_MICROMIPS
							     : LITIFUT_CODE_MIPS16;
	return LITIFUT_CODE_PLAIN;
}

static bool whole_section_is_code(const struct litifut_section *section)
{
	/* Pieces of one function, put together by the linker out of many objects;
	 * the symbols at their start have no useful size. */
	return strcmp(section->name, ".init") == 0 || strcmp(section->name, ".fini") == 0;
}

/* A function without a size (hand-written assembly, start-up files) reaches to
 * whatever has the next name. */
static uint32_t function_end(const struct litifut_image *image, size_t index,
			     const struct litifut_section *section)
{
	const struct litifut_symbol *function = &image->symbols[image->functions[index]];
	uint32_t end = section->address + section->size;

	if (function->size)
		return function->address + function->size;
	for (size_t i = image->functions[index] + 1; i < image->symbol_count; i++) {
		const struct litifut_symbol *next = &image->symbols[i];

		if (next->section != function->section)
			break;
		if (next->address > function->address)
			return next->address;
	}
	return end;
}

/* MIPS has no mapping symbols; the functions say where code is. Functions can
 * overlap (aliases, entry points in the middle), so that each range starts
 * where the ones before ended. */
static enum litifut_status code_ranges(const struct litifut_image *image,
				       const struct litifut_section *section,
				       struct litifut_code_range **ranges, size_t *count,
				       struct litifut_error *error)
{
	uint32_t end = section->address + section->size;
	uint32_t covered = section->address;

	*count = 0;
	*ranges = malloc((image->function_count + 1) * sizeof(**ranges));
	if (!*ranges)
		return litifut_error_set(error, LITIFUT_ERROR_IO, image->path, section->name,
					 LITIFUT_NO_ADDRESS, "out of memory");
	if (whole_section_is_code(section)) {
		**ranges = (struct litifut_code_range){section->address, end & ~3u,
						       LITIFUT_CODE_PLAIN};
		*count = 1;
		return LITIFUT_OK;
	}
	for (size_t i = 0; i < image->function_count; i++) {
		const struct litifut_symbol *function = &image->symbols[image->functions[i]];
		uint32_t from = function->address;
		uint32_t to;

		if (from < section->address || from >= end)
			continue;
		to = function_end(image, i, section);
		if (to < from)
			continue;
		if (to > end)
			to = end;
		if (from < covered)
			from = covered;
		if (from >= to || (from & 3 && symbol_state(image, function) == LITIFUT_CODE_PLAIN))
			continue;
		(*ranges)[(*count)++] =
			(struct litifut_code_range){from, to, symbol_state(image, function)};
		covered = to;
	}
	return LITIFUT_OK;
}

/* What -pg makes: _mcount gets in $at what ra was before, and patched calls change
 * $at. Between the two stand at most the adjustment of sp, two instructions that
 * load $t9 and one that the assembler put there. */
static bool passes_at(const struct litifut_arch_context *context, const uint8_t *following,
		      size_t preceding_bytes)
{
	const uint32_t move_at_ra = 0x03e00825; /* or; 0x21 in the place of 0x25: addu */

	for (unsigned back = 4; back <= 16 && back <= preceding_bytes; back += 4)
		if ((litifut_get32(context->cpu.big_endian, following - 4 - back) | 4) ==
		    move_at_ra)
			return true;
	return false;
}

/* Does `bal` only ask where it is? So start-up code does, before it has a global pointer:
 * it goes over a few words of data, which it then loads by the return address. */
static bool asks_for_place(const struct litifut_arch_context *context,
			   const struct litifut_instruction *instruction, uint32_t address,
			   const uint8_t *following, size_t following_bytes)
{
	uint32_t over = instruction->target - (address + 4); /* bytes, with the delay slot */

	if (over == 4)
		return true;
	if (over > 64 || over + 4 > following_bytes)
		return false;
	/* lw rt, n(ra): no function begins so */
	return litifut_get32(context->cpu.big_endian, following + over) >> 21 ==
	       (0x23u << 5 | LITIFUT_MIPS_RA);
}

static unsigned refuse(const struct litifut_arch_context *context,
		       const struct litifut_instruction *instruction, uint32_t address,
		       const uint8_t *following, size_t following_bytes, size_t preceding_bytes,
		       const char *callee_name)
{
	(void)callee_name;
	if (instruction->class == LITIFUT_CLASS_FOREIGN_CALL)
		return LITIFUT_SITE_FOREIGN_ISA;
	if (instruction->class == LITIFUT_CLASS_CALL_DIRECT &&
	    asks_for_place(context, instruction, address, following, following_bytes))
		return LITIFUT_SITE_NOT_A_CALL;
	if (passes_at(context, following, preceding_bytes))
		return LITIFUT_SITE_SPECIAL_CALLEE;
	if (following_bytes < 4 || instruction->link_register != LITIFUT_MIPS_RA)
		return LITIFUT_SITE_SPECIAL_FORM;
	/* It returns to elsewhere, so the call could not be found by it. */
	if (litifut_mips_writes(litifut_get32(context->cpu.big_endian, following), LITIFUT_MIPS_RA))
		return LITIFUT_SITE_DELAY_SLOT;
	if (instruction->class == LITIFUT_CLASS_CALL_DIRECT)
		return LITIFUT_SITE_PATCHED;
	/* The original reads its register before the delay slot is executed, the
	 * tracer after it: the call needs a trampoline. */
	if (litifut_mips_writes(litifut_get32(context->cpu.big_endian, following),
				instruction->target_register))
		return LITIFUT_SITE_TOO_SHORT;
	return LITIFUT_SITE_PATCHED;
}

static bool is_call_through_t9(const struct litifut_instruction *instruction)
{
	return instruction->class == LITIFUT_CLASS_CALL_INDIRECT &&
	       instruction->target_register == LITIFUT_MIPS_T9 &&
	       !litifut_mips_has_barrier(instruction->word);
}

/* Beside thunks that take all they can, what is left uses the DB. */
static unsigned entry(const struct litifut_arch_context *context,
		      const struct litifut_instruction *instruction)
{
	if (context->thunks)
		return LITIFUT_MIPS_ENTRY_CALL;
	return is_call_through_t9(instruction) ? LITIFUT_MIPS_ENTRY_T9 : LITIFUT_MIPS_ENTRY_CALL;
}

static bool needs_db(const struct litifut_arch_context *context,
		     const struct litifut_instruction *instruction)
{
	return context->thunks || !is_call_through_t9(instruction);
}

_Static_assert(LITIFUT_MIPS_ISLAND_BYTES <= LITIFUT_ISLAND_BYTES_MAX, "bytes of an island");

#define HOST_PIECE(bytes)                                                                          \
	{                                                                                          \
		LITIFUT_MIPS_WAY_BYTES + (bytes), LITIFUT_MIPS_HOST_TRAMPOLINE_BYTES(bytes)        \
	}

/* As tracer/mips/thunk.S has them: after 4 bytes there is room of their own at sp; those of
 * tail calls have the return address in $at, after 8 bytes in that room. */
#define OWN_ROOM 0x44, 0x0e, 16
#define IN_AT 0x09, 31, 1
#define IN_ROOM 0x44, 0x80 | 31, 2

static const struct litifut_named_frame named_frames[] = {
	{"litifut_thunk_jalr", {0}},
	{"litifut_thunk_near", {0}},
	{"litifut_thunk_jalr_own", {OWN_ROOM}},
	{"litifut_thunk_near_own", {OWN_ROOM}},
	{"litifut_thunk_tail", {IN_AT, OWN_ROOM, IN_ROOM}},
	{"litifut_thunk_tail_near", {IN_AT, OWN_ROOM, IN_ROOM}},
	{"litifut_thunk_tail_back", {IN_AT, OWN_ROOM, IN_ROOM}},
	{NULL, {0}}};

static const struct litifut_arch_sizes sizes = {
	.call_trampoline_bytes = LITIFUT_MIPS_TRAMPOLINE_BYTES,
	.tail_trampoline_bytes = LITIFUT_MIPS_TRAMPOLINE_BYTES,
	.thunk_bytes = LITIFUT_MIPS_THUNK_BYTES,
	.near_thunk_bytes = LITIFUT_MIPS_THUNK_BYTES,
	.thunk_encoding = 1,
	.direct_in_db = 8, /* 1 of 15 in lua, 1 of 33 in git */
	.reach = 128u << 10,
	.far_reach = 128u << 10,
	.island_interval = 180u << 10,
};

static bool only_fills(const uint8_t *code, uint32_t bytes, bool thumb)
{
	(void)thumb;
	for (uint32_t at = 0; at < bytes; at++)
		if (code[at])
			return false;
	return true;
}

static const struct litifut_arch_flow flow = {
	.is_indirect_tail = litifut_mips_is_indirect_tail,
	.add_targets = litifut_mips_add_targets,
	.form_addresses = litifut_mips_form_addresses,
	.far_target = litifut_mips_far_target,
	.only_fills = only_fills,
	.landing_pads = litifut_landing_pads_of_frames,
};

static const struct litifut_arch_detour detour = {
	.gate_bytes = LITIFUT_MIPS_GATE_BYTES,
	/* island.c: 8 bytes are on the stack, with ra in them, which is another from 24 to 40 */
	.gate_rules = {0x0e, 8, 0x40 | 24, 0x80 | 31, 1, 0x40 | 16, 0xc0 | 31},
	.trampoline_bytes_max = 2 * LITIFUT_MIPS_TRAMPOLINE_BYTES,
	.can_detour = litifut_mips_can_detour,
	.write_detour = litifut_mips_write_detour,
	.encode_numbered = litifut_mips_encode_numbered,
	.write_gate = litifut_mips_write_gate,
	.write_onward = litifut_mips_write_onward,
	.gate_works = litifut_mips_gate_works,
};

const struct litifut_arch_borrow litifut_mips_borrow = {
	.host_pieces = {HOST_PIECE(LITIFUT_MIPS_WAYS_BYTES),
			HOST_PIECE(LITIFUT_MIPS_NUMBERED_BYTES),
			HOST_PIECE(LITIFUT_MIPS_NEAR_BYTES),
			HOST_PIECE(LITIFUT_MIPS_INDIRECT_BYTES)},
	.host_piece_count = LITIFUT_HOST_PIECES,
	.table_bytes = LITIFUT_MIPS_TABLE_BYTES,
	.tables_max = LITIFUT_MIPS_TABLES,
	.other_places = 4,
	.can_host = litifut_mips_can_host,
	.write_host = litifut_mips_write_host,
	.relay_bytes = LITIFUT_MIPS_RELAY_BYTES,
	.relay_entry = LITIFUT_MIPS_RELAY_ENTRY,
	.relay_trampoline_bytes = LITIFUT_MIPS_RELAY_TRAMPOLINE_BYTES,
	.find_runs = litifut_mips_find_runs,
	.write_relay = litifut_mips_write_relay,
	.write_step = litifut_mips_write_step,
};

static const struct litifut_arch_thunks thunks = {
	.function_facts = litifut_mips_function_facts,
	.known_callee = litifut_mips_callee,
	.add_elsewhere = litifut_mips_add_elsewhere,
	.refuses_thunks = litifut_mips_refuses_thunks,
	.thunk = litifut_mips_thunk,
	.thunks_need_db = true,
	.counts_by_return = true,
	.write_thunk = litifut_mips_write_thunk,
	.write_shared = litifut_mips_write_shared,
	.shared_bytes = LITIFUT_MIPS_SHARED_BYTES,
	.thunk_frame = litifut_mips_thunk_frame,
};

static const struct litifut_arch_returns returns = {
	.slot_bytes = 4,
	.knows_function = litifut_mips_knows_function,
	.judge_exit = litifut_mips_judge_exit,
	.write_exit = litifut_mips_write_exit,
	.branch_at = litifut_mips_branch_at,
	.can_lend = litifut_mips_can_lend,
	.lead_branch = litifut_mips_lead_branch,
	.exit_bytes_max = LITIFUT_MIPS_EXIT_BYTES,
	.exit_bytes_usual = {24, 44},
	.bits_bytes_usual = 8,
};

static const struct litifut_arch_frames frames = {
	.debug_section_type = SHT_MIPS_DWARF,
	.named_frames = named_frames,
	.frame_registers = {.stack_pointer = 29,
			    .return_address = 31,
			    .program_counter = 37,
			    .spare = 65 /* lo */},
	.frame_relocation = R_MIPS_32,
};

const struct litifut_arch litifut_arch_mips = {
	.cpu = &cpu_mips,
	.sizes = &sizes,
	.entry_names = {"litifut_stub_jal", "litifut_stub_jalr", "litifut_stub_tail",
			LITIFUT_TRAMPOLINES, "litifut_thunk_jalr", "litifut_thunk_near",
			"litifut_thunk_tail", "litifut_thunk_call", "litifut_thunk_tail_near",
			"litifut_thunk_tail_back", "litifut_thunk_jalr_own",
			"litifut_thunk_near_own", "litifut_thunk_call_own"},
	.entry_count = 13,
	.island_bytes = LITIFUT_MIPS_ISLAND_BYTES,
	.examine = examine,
	.code_ranges = code_ranges,
	.refuse = refuse,
	.entry = entry,
	.needs_db = needs_db,
	.write_island = litifut_mips_write_island,
	.flow = &flow,
	.detour = &detour,
	.borrow = &litifut_mips_borrow,
	.thunks = &thunks,
	.frames = &frames,
	.returns = &returns,
	.edges = &litifut_mips_edges,
};
