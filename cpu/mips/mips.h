/* Between the files of cpu/mips, and for rewriter/mips. Manual: MIPS32 Architecture For
 * Programmers, Volume II (MD00086, revision 2 of the architecture). */
#ifndef LITIFUT_CPU_MIPS_MIPS_H
#define LITIFUT_CPU_MIPS_MIPS_H

#include "cpu/cpu.h"

extern const struct cpu cpu_mips;

enum { LITIFUT_MIPS_T9 = 25, LITIFUT_MIPS_RA = 31 };

/* Major opcode that the DB uses for the branch of a tail call, wherever it leads:
 * `bc` of release 6, 26 bits, +-128 MB. No such image is rewritten. */
#define LITIFUT_MIPS_FAR_BRANCH 0x32u

/* See struct cpu for what each does. */
cpu_place_parameters litifut_mips_place_parameters;
uint32_t litifut_mips_find_exclusive(const struct cpu_context *context, const uint8_t *code,
				     uint32_t available, enum litifut_code_state state);
uint32_t litifut_mips_skip(const struct cpu_context *context, const uint8_t *code,
			   uint32_t available, enum litifut_code_state state, uint64_t *before);
unsigned litifut_mips_decode(const struct cpu_context *context, const uint8_t *code,
			     size_t available, uint32_t address, enum litifut_code_state state,
			     struct litifut_instruction *instruction);
unsigned litifut_mips_step(const struct cpu_context *context, const uint8_t *code, size_t available,
			   uint32_t address, enum litifut_code_state state, unsigned *block,
			   struct cpu_step *step);
bool litifut_mips_leads_by_name(const struct cpu_context *context, const uint8_t *code,
				size_t bytes);
unsigned litifut_mips_track(const struct cpu_context *context, const uint8_t *code,
			    size_t available, enum litifut_code_state state,
			    struct cpu_frame *frame);
bool litifut_mips_encode_call(const struct cpu_context *context,
			      const struct litifut_instruction *instruction, uint32_t address,
			      uint32_t entry, uint8_t *code);
struct litifut_lead litifut_mips_follow(const struct litifut_code_reader *code, uint32_t address);
uint32_t litifut_mips_site_before(uint32_t return_address);
struct litifut_site litifut_mips_site_of_entry(struct litifut_db_entry entry);
extern const struct cpu_objects litifut_objects_mips;

/* As decode, for the compact encodings, LITIFUT_CODE_MIPS16 and _MICROMIPS: finds
 * calls, all of them LITIFUT_CLASS_FOREIGN_CALL, and lengths, nothing else. */
unsigned litifut_mips_decode_compact(const struct cpu_context *context, const uint8_t *code,
				     size_t available, enum litifut_code_state state,
				     struct litifut_instruction *instruction);

/* Is `word`, a jalr or jr, one that clears hazards as well (jalr.hb, jr.hb)? */
bool litifut_mips_has_barrier(uint32_t word);

/* Can the instruction `word` be a jump or branch? By the major opcode, a bit for each (regimm,
 * j to bgtz; coprocessors, beql to bgtzl; jalx), and where that is SPECIAL by the function (jr,
 * jalr). Nine of ten are not. */
static inline bool litifut_mips_may_jump(uint32_t word)
{
	const uint64_t majors = UINT64_C(0xfe) | UINT64_C(0xff) << 0x10 | UINT64_C(1) << 0x1d;

	return word >> 26 ? majors >> (word >> 26) & 1 : (word & 0x3e) == 0x08;
}

/* Is the branch `word` one whose delay slot is executed only when it is taken? */
bool litifut_mips_is_likely(uint32_t word);

/* Of SPECIAL3: is it ext, ins or rdhwr, which have a number in the place of rd, and write rt? */
bool litifut_mips_has_number(uint32_t word);

/* j, jal and jalx: all other fields are of the target. */
static inline bool litifut_mips_has_target(uint32_t word)
{
	return word >> 27 == 0x01 || word >> 26 == 0x1d;
}

/* Does the instruction `word`, which has the register `number` as its second source or
 * destination, write it? */
bool litifut_mips_writes_named(uint32_t word, unsigned number);

/* Does the instruction `word`, standing in a delay slot, write register `number`? This is
 * called for all instructions of large functions. */
static inline bool litifut_mips_writes(uint32_t word, unsigned number)
{
	return ((word >> 16 & 31) == number || (word >> 11 & 31) == number) &&
	       litifut_mips_writes_named(word, number);
}

/* Is it break, or teq of $0 with itself, which a compiler puts where control does not go on? */
bool litifut_mips_traps(uint32_t word);

/* May the instruction `word` end the program by a signal? Not counted are accesses by the stack
 * pointer and $gp, which compilers keep valid. */
bool litifut_mips_may_fault(uint32_t word);

/* Is `target` within what a branch at `address` can say? */
bool litifut_mips_branch_reaches(uint32_t address, uint32_t target);
/* The branch `word` (its offset 0), standing at `address`, to `target`. */
uint32_t litifut_mips_branch(uint32_t word, uint32_t address, uint32_t target);

/* A jump, or with `link` a call, without condition: `j` or `jal` where the region is
 * known, else `b` or `bal`; 0: out of reach. */
uint32_t litifut_mips_jump(const struct cpu_context *context, bool link, uint32_t address,
			   uint32_t target);

/* Value for `lui` so that a signed low half added to it gives `value`. */
uint32_t litifut_mips_high(uint32_t value);

#endif
