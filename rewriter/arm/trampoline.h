/* A trampoline for a 16-bit `blx rN`, which has no room for a branch to the
 * tracer: the instruction before it moves along. */
#ifndef LITIFUT_REWRITER_ARM_TRAMPOLINE_H
#define LITIFUT_REWRITER_ARM_TRAMPOLINE_H

#include <stdbool.h>
#include <stdint.h>

/* The most bytes that litifut_arm_trampoline_write() writes. */
#define LITIFUT_ARM_TRAMPOLINE_BYTES_MAX 40

/* Code before the trampolines that all of them end in: T32, switching to A32
 * and on to the tracer's entry. */
#define LITIFUT_ARM_GATE_BYTES 16

/* A call and the instruction before it, which is `length` (2 or 4) bytes long
 * and stands at `address`; the call follows at once. */
struct litifut_arm_displaced {
	uint32_t address;
	uint32_t instruction; /* 4 bytes: first halfword << 16 | second */
	unsigned length;
};

/* Writes the gate to `code`, standing at `address` (4-byte aligned), for the
 * A32 entry point at `entry`. */
void litifut_arm_gate_write(uint32_t address, uint32_t entry, uint8_t *code);

/* Can the instruction before the call be moved or emulated elsewhere? */
bool litifut_arm_displaceable(const struct litifut_arm_displaced *displaced);

/* Writes the trampoline, standing at `address` (4-byte aligned), to `code`:
 * does what the displaced instruction did, sets lr to the original return
 * address and goes to the gate. Returns its size, a multiple of 4. Never fails
 * for what is displaceable, as long as everything is within 16 MB. */
unsigned litifut_arm_trampoline_write(const struct litifut_arm_displaced *displaced,
				      uint32_t address, uint32_t gate, uint8_t *code);

/* Writes a T32 `b.w` at `address` to `target`; false when it does not reach. */
bool litifut_arm_branch_write(uint32_t address, uint32_t target, uint8_t *code);

#endif
