/* What becomes of T32 instructions that are done elsewhere. */
#ifndef LITIFUT_REWRITER_ARM_DISPLACED_H
#define LITIFUT_REWRITER_ARM_DISPLACED_H

#include <stdbool.h>
#include <stdint.h>

/* A call and the instruction before it, which is `length` (2 or 4) bytes long
 * and stands at `address`; the call follows at once. 0: nothing is displaced,
 * the call itself stands at `address`. */
struct litifut_arm_displaced {
	uint32_t address;
	uint32_t instruction; /* 4 bytes: first halfword << 16 | second */
	unsigned length;
};

/* What becomes of a displaced instruction. */
enum litifut_arm_treatment {
	LITIFUT_ARM_STAYS,         /* can't be displaced */
	LITIFUT_ARM_MOVES,         /* position-independent: copied */
	LITIFUT_ARM_LOADS_LITERAL, /* ldr Rt, [pc, #n] */
	LITIFUT_ARM_LOADS_PAIR,    /* ldrd Rt, Rt2, [pc, #n] */
	LITIFUT_ARM_LOADS_VECTOR,  /* vldr Sd or Dd, [pc, #n] */
	LITIFUT_ARM_FORMS_ADDRESS, /* adr Rd; mov Rd, pc */
	LITIFUT_ARM_ADDS_PC,       /* add Rd, pc */
	LITIFUT_ARM_BRANCHES       /* conditional: cbz, cbnz, b<cond> */
};

struct litifut_arm_analysis {
	enum litifut_arm_treatment treatment;
	unsigned reg;    /* Rt or Rd */
	uint32_t value;  /* the literal's address, the address formed, the pc read, the target */
	uint16_t branch; /* LITIFUT_ARM_BRANCHES: the same test as 16-bit branch without offset */
};

struct litifut_arm_analysis litifut_arm_analyse(const struct litifut_arm_displaced *displaced);

/* Bytes of the instruction that only fills up the place at `code`, of which `left` bytes can be
 * read (nop, nop.w, mov r8, r8; of A32 code nop, mov r0, r0); 0: it does something. */
unsigned litifut_arm_filler_bytes(const uint8_t *code, uint32_t left, bool thumb);

#define LITIFUT_ARM_SG 0xe97fe97fu /* v8-M, of T32 code */

/* Must a branch through a register, or one of another state, arrive at this T32 instruction? bti,
 * pacbti (v8.1-M), sg (v8-M). */
bool litifut_arm_is_landing(uint32_t word);

/* The branch that `word` is, without its offset and as a 16-bit one; 0: none that is
 * conditional. `length` is 2 or 4. */
uint16_t litifut_arm_condition(uint32_t word, unsigned length);

/* Writes a T32 `b.w` at `address` to `target`; false when it does not reach. */
bool litifut_arm_branch_write(uint32_t address, uint32_t target, uint8_t *code);

/* Makes a bl of it. */
void litifut_arm_set_link(uint8_t *code);

#endif
