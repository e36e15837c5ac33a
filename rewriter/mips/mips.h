/* Between the files of the MIPS back end. Manual: MIPS32 Architecture For
 * Programmers, Volume II (MD00086, revision 2 of the architecture). */
#ifndef LITIFUT_REWRITER_MIPS_MIPS_H
#define LITIFUT_REWRITER_MIPS_MIPS_H

#include "rewriter/arch.h"

/* See struct litifut_arch for what each does. */
uint32_t litifut_mips_skip(const struct litifut_arch_context *context, const uint8_t *code,
			   uint32_t available, enum litifut_code_state state, uint8_t *before);
unsigned litifut_mips_decode(const struct litifut_arch_context *context, const uint8_t *code,
			     size_t available, uint32_t address, enum litifut_code_state state,
			     struct litifut_instruction *instruction);
bool litifut_mips_encode_call(const struct litifut_arch_context *context,
			      const struct litifut_instruction *instruction, uint32_t address,
			      uint32_t entry, uint8_t *code);
void litifut_mips_write_island(const struct litifut_arch_context *context, uint32_t address,
			       const uint32_t *entries, uint8_t *code, uint32_t *island_entries);

/* The same for the compact encodings, LITIFUT_CODE_MIPS16 and _MICROMIPS: finds
 * calls, all of them LITIFUT_CLASS_FOREIGN_CALL, and lengths, nothing else. */
unsigned litifut_mips_decode_compact(const struct litifut_arch_context *context,
				     const uint8_t *code, size_t available,
				     enum litifut_code_state state,
				     struct litifut_instruction *instruction);

/* Does the instruction `word`, standing in a delay slot, write register `number`? */
bool litifut_mips_writes(uint32_t word, unsigned number);

enum { LITIFUT_MIPS_T9 = 25, LITIFUT_MIPS_RA = 31 };

/* Indices of the entry points in litifut_arch_mips.entry_names. An island has
 * NUMBERED, where sites with a trampoline arrive, in the place of TAIL, and no
 * GATE. */
enum {
	LITIFUT_MIPS_ENTRY_CALL = 0,
	LITIFUT_MIPS_ENTRY_T9 = 1,
	LITIFUT_MIPS_ENTRY_TAIL = 2,
	LITIFUT_MIPS_ENTRY_NUMBERED = 2,
	LITIFUT_MIPS_ENTRY_GATE = 3,
	/* of the thunk engine */
	LITIFUT_MIPS_ENTRY_THUNK_T9 = 4,
	LITIFUT_MIPS_ENTRY_THUNK_NEAR = 5,
	LITIFUT_MIPS_ENTRY_THUNK_TAIL = 6,
	LITIFUT_MIPS_ENTRY_THUNK_CALL = 7
};

/* What an island hands to the gate; else the number of a trampoline. */
enum { LITIFUT_MIPS_CAME_BY_T9 = -1, LITIFUT_MIPS_CAME_BY_CALL = 0x7fff };

#define LITIFUT_MIPS_ISLAND_BYTES 48
#define LITIFUT_MIPS_GATE_BYTES 64
#define LITIFUT_MIPS_TRAMPOLINE_BYTES 16

/* Major opcode that the DB uses for the branch of a tail call, wherever it leads:
 * `bc` of release 6, 26 bits, +-128 MB. No such image is rewritten. */
#define LITIFUT_MIPS_FAR_BRANCH 0x32u

/* The way from the start of a host to its trampoline, and back. */
#define LITIFUT_MIPS_WAY_BYTES 20
#define LITIFUT_MIPS_HOST_BYTES (LITIFUT_MIPS_WAY_BYTES + LITIFUT_MIPS_ISLAND_BYTES)
/* 88, made a multiple of LITIFUT_MIPS_TRAMPOLINE_BYTES, which are numbered */
#define LITIFUT_MIPS_HOST_TRAMPOLINE_BYTES 96

/* A multiple of LITIFUT_MIPS_TRAMPOLINE_BYTES. */
#define LITIFUT_MIPS_THUNK_BYTES 80

/* Are these the three instructions with which a function computes its global
 * pointer from its own address in $t9? */
bool litifut_mips_computes_global_pointer(const uint32_t *words);

/* Is `target` within what a branch at `address` can say? */
bool litifut_mips_branch_reaches(uint32_t address, uint32_t target);
/* The branch `word` (its offset 0), standing at `address`, to `target`. */
uint32_t litifut_mips_branch(uint32_t word, uint32_t address, uint32_t target);

/* Value for `lui` so that a signed low half added to it gives `value`. */
uint32_t litifut_mips_high(uint32_t value);

bool litifut_mips_can_host(const struct litifut_arch_context *context,
			   const struct litifut_section *section, uint32_t address, uint32_t size,
			   const struct litifut_targets *targets);
void litifut_mips_write_host(const struct litifut_arch_context *context, uint32_t address,
			     uint32_t trampoline, const uint32_t *entries, uint8_t *code,
			     uint8_t *moved, uint32_t *island_entries);
bool litifut_mips_is_veneer(const char *name);
bool litifut_mips_is_indirect_tail(const struct litifut_arch_context *context,
				   const struct litifut_cramped_call *call,
				   const struct litifut_targets *data);
bool litifut_mips_can_detour(const struct litifut_arch_context *context,
			     const struct litifut_cramped_call *call,
			     const struct litifut_targets *targets);
bool litifut_mips_write_detour(const struct litifut_arch_context *context,
			       const struct litifut_cramped_call *call, uint32_t address,
			       const struct litifut_gate *gate, uint8_t *trampoline,
			       struct litifut_detour *detour);
bool litifut_mips_encode_numbered(const struct litifut_arch_context *context,
				  const struct litifut_cramped_call *call, uint32_t address,
				  const struct litifut_gate *gate, const uint32_t *island_entries,
				  uint8_t *trampoline, struct litifut_detour *detour);
bool litifut_mips_gate_works(const uint32_t *entries);
void litifut_mips_write_gate(const struct litifut_arch_context *context, uint32_t address,
			     const uint32_t *entries, uint8_t *code);
bool litifut_mips_allows_thunks(const struct litifut_image *image,
				const struct litifut_arch_context *context);
struct litifut_thunk litifut_mips_thunk(const struct litifut_image *image,
					const struct litifut_arch_context *context,
					const struct litifut_cramped_call *call);
unsigned litifut_mips_write_thunk(const struct litifut_arch_context *context,
				  const struct litifut_thunk *thunk, uint32_t address,
				  const uint32_t *entries, uint8_t *code);

#endif
