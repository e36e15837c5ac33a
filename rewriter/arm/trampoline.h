/* Trampolines for T32 code: for a 16-bit `blx rN`, which has no room for a
 * branch to the tracer, so that the instruction before it moves along, and for
 * tail calls. */
#ifndef LITIFUT_REWRITER_ARM_TRAMPOLINE_H
#define LITIFUT_REWRITER_ARM_TRAMPOLINE_H

#include <stdbool.h>
#include <stdint.h>

#include "rewriter/arm/displaced.h"

/* The most bytes that litifut_arm_trampoline_write() writes. */
#define LITIFUT_ARM_TRAMPOLINE_BYTES_MAX 44

/* The most instructions that litifut_arm_copies_write() takes. */
#define LITIFUT_ARM_COPIES_MAX 5

/* Code before the trampolines that all of them end in: T32, switching to A32
 * and on to the tracer's entry; and the same for litifut_arm_lr_write(). */
#define LITIFUT_ARM_GATE_BYTES 16
#define LITIFUT_ARM_GATE_LR 8

/* Writes the gate to `code`, standing at `address` (4-byte aligned), for the
 * A32 entry points at `entry` and `entry_lr`. */
void litifut_arm_gate_write(uint32_t address, uint32_t entry, uint32_t entry_lr, uint8_t *code);

/* Can the instruction before the call be moved or emulated elsewhere? */
bool litifut_arm_displaceable(const struct litifut_arm_displaced *displaced);

/* Writes the trampoline, standing at `address` (4-byte aligned), to `code`:
 * does what the displaced instruction did, sets lr to the original return
 * address and goes to the gate. Returns its size, a multiple of 4. Never fails
 * for what is displaceable, as long as everything is within 16 MB. */
unsigned litifut_arm_trampoline_write(const struct litifut_arm_displaced *displaced,
				      uint32_t address, uint32_t gate, uint8_t *code);

/* The same for `blx lr`: hands over the callee on the stack, with the return
 * address above it. The first of the two pushes begins at offset *pushed. */
unsigned litifut_arm_lr_write(const struct litifut_arm_displaced *displaced, uint32_t address,
			      uint32_t gate, uint8_t *code, unsigned *pushed);

/* The same in A32 code, where nothing is displaced; `back` is the return address.
 * Returns 0 when the entry is out of reach. */
unsigned litifut_arm_lr_write_plain(uint32_t back, uint32_t address, uint32_t entry, uint8_t *code);

/* Can the instruction be done elsewhere, without a register to spare, and go on? */
bool litifut_arm_copyable(const struct litifut_arm_displaced *displaced);

/* Writes code, standing at `address` (4-byte aligned), that does what `count`
 * copyable instructions did and goes on at `back`; `links`: by a bl, and all of it is Thumb-1
 * code. Returns its size, a multiple of 4. */
unsigned litifut_arm_copies_write(const struct litifut_arm_displaced *displaced, unsigned count,
				  uint32_t back, bool links, uint32_t address, uint8_t *code);

/* So many instructions may stand at a return point that is patched. */
#define LITIFUT_ARM_RETURN_INSTRUCTIONS 8

struct litifut_exits;

/* As litifut_arm_copies_write() for the code at a return point, where lr is free: calls the
 * thunk at `thunk` (with the Thumb bit) first. Any of `displaced` may be a branch, or load
 * the pc; `back` 0: the code does not go on behind them. *inner, the address of one of them or 0,
 * becomes where that one stands now. Branches are led as litifut_exits_led() says for `exits`. */
unsigned litifut_arm_return_write(const struct litifut_arm_displaced *displaced, unsigned count,
				  uint32_t back, uint32_t address, uint32_t thunk, uint8_t *code,
				  const struct litifut_exits *exits, uint32_t *inner);

/* A tail call. */
struct litifut_arm_tail {
	uint16_t branch; /* conditional: the 16-bit branch without its offset; else 0 */
	uint32_t back;   /* where a conditional one goes on when it isn't taken */
	uint32_t entry;  /* the tracer's entry for tail calls, or the thunk */
	/* With a thunk: where the trampoline goes on to, by a branch, or through a
	 * register if that is 0. */
	bool goes_on;
	uint32_t callee;
	unsigned callee_register;
	uint32_t link;   /* set: what the trampoline leaves in lr, bit 0 included */
	unsigned pushed; /* set: offset of the instruction after the push */
};

/* As litifut_arm_trampoline_write(): does what the displaced instruction did,
 * pushes lr, and calls the entry. Returns 0 when the entry is out of reach. */
unsigned litifut_arm_tail_write(const struct litifut_arm_displaced *displaced,
				struct litifut_arm_tail *tail, uint32_t address, uint8_t *code);

#endif
