/* Between the files of the MIPS back end. Manual: MIPS32 Architecture For
 * Programmers, Volume II (MD00086, revision 2 of the architecture). */
#ifndef LITIFUT_REWRITER_MIPS_MIPS_H
#define LITIFUT_REWRITER_MIPS_MIPS_H

#include "rewriter/arch.h"

/* See struct litifut_arch for what each does. */
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

/* One island holds the jump to each of the two entry points. */
#define LITIFUT_MIPS_JUMP_BYTES 40
#define LITIFUT_MIPS_ISLAND_BYTES (2 * LITIFUT_MIPS_JUMP_BYTES)

#endif
