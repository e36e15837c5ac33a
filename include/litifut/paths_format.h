/* What a firmware records with LITIFUT_MODE=paths: a bit for each conditional branch, in order, in
 * a ring of 32-bit words, the symbol `litifut_table'. The same for all CPUs, so that a host needs
 * nothing but the ELF file.
 *
 * Word 0 of the ring is the number of times that the ring has begun anew, its lap. Each other
 * word is one of
 *
 *   0             nothing
 *   bit 31 clear  bits: those below the highest 1, the first one the highest: 1 for a branch that
 *                 was taken, 0 for one that was passed, 1 for a block that records in this way
 *                 that control came there (enum litifut_block_entered). Up to 30 of them
 *   bit 31 set    a record. The other bits are half of an address in the code that the rewriter
 *                 has made for the start of a block: control came there. If they are less than
 *                 LITIFUT_PATHS_KINDS they are the kind of a record, and its words follow.
 *                 LITIFUT_PATHS_CLOSED is not a record: recording is off, and this is the newest
 *                 word
 *
 * Bits are shifted into the newest word, whose address is the cursor: the first word of struct
 * litifut_paths_state, the symbol `litifut_paths', and of a ring that outlasts a reset `head' of
 * struct litifut_kept. So the memory has each bit up to the last branch. Where the lap is not 0,
 * the words behind the newest are older than the first; of these LITIFUT_PATHS_UNSURE may be
 * damaged, as a record that is being made stands there already.
 *
 * On AVR the newest bits are in a byte of their own, the symbol `litifut_paths_bits': those below
 * the highest 1 of it are behind those of the newest word, unless nothing is recorded yet. A word
 * that is full has 24 bits there.
 *
 * LITIFUT_MODE=units has the same words, where the records are of the start and the end of a unit.
 * A bit, which is 1, says that the unit that has started last has ended. Handlers say what they
 * have interrupted only in a program with several tasks.
 *
 * An interrupt handler begins with a record: all functions that something unknown may call record
 * their start in this way. An interrupt that comes while a bit is stored lets the store fail,
 * and it is done again behind what the handler has recorded. While a record is made,
 * interrupts are off. */
#ifndef LITIFUT_PATHS_FORMAT_H
#define LITIFUT_PATHS_FORMAT_H

#define LITIFUT_PATHS_RECORD 0x80000000
#define LITIFUT_PATHS_NONE 1 /* a word for bits without any */
#define LITIFUT_PATHS_FULL 0x40000000

/* Kinds, and what follows. */
#define LITIFUT_PATHS_SYNC                                                                         \
	1 /* [address][stack pointer][n], then n times [return address][where it stands on the     \
	   * stack]: the CPU is in the code of the branch, or of the start of a block, that has    \
	   * this address; a record of the start itself is left out */
#define LITIFUT_PATHS_LOST 2    /* [n]: n bits and records found no room; a SYNC follows */
#define LITIFUT_PATHS_RESET 3   /* [n]: the device has restarted, n times since the ring began */
#define LITIFUT_PATHS_SAVED 4   /* [psp]: an interrupt handler has read this stack pointer, */
#define LITIFUT_PATHS_RESUMED 5 /* [psp]: or has set it: its return leads to that task */
#define LITIFUT_PATHS_INTERRUPT                                                                    \
	6 /* [address][frame]: an interrupt came before the instruction there; of the tracer's own \
	   * code, the address in that of a branch which has called it, behind the call. On        \
	   * Cortex-M it is the call's own if the bit or record is not there yet.                  \
	   * `frame' is where the CPU has put the registers on the stack, with bit 0 set if no     \
	   * other interrupt was being handled then; of AVR twice that address. The record of the  \
	   * start of its handler follows */
#define LITIFUT_PATHS_STOPPED                                                                      \
	7 /* [0]: recording was switched off here (litifut_stop()), and on again; a SYNC follows   \
	   */
#define LITIFUT_PATHS_KINDS 32

/* Neither a bit nor a record finds room in it, or behind it. */
#define LITIFUT_PATHS_CLOSED 0xffffffff

#define LITIFUT_PATHS_SYNC_CALLS 24 /* as many as a SYNC has, at most */
#define LITIFUT_PATHS_UNSURE 4      /* words */

/* Offsets in struct litifut_paths_state, for assembly, */
#define PATHS_CURSOR 0
#define PATHS_STOP 4
#define PATHS_LOST 8
/* and the bytes that must be free before `stop` for a record that is made without more ado. */
#define PATHS_ROOM_SHIFT 4

#ifndef __ASSEMBLER__
#include <stddef.h>
#include <stdint.h>

struct litifut_paths_state {
#ifdef __AVR__
	uint16_t cursor, upper; /* the latter as in the linker's addresses of memory */
	uint16_t stop, reserved;
#else
	uint32_t cursor; /* address of the newest word */
	uint32_t stop;   /* the ring has room up to here before something has to be done */
#endif
	uint32_t lost; /* bits and records that found no room */
};

_Static_assert(offsetof(struct litifut_paths_state, cursor) == PATHS_CURSOR, "paths layout");
_Static_assert(offsetof(struct litifut_paths_state, stop) == PATHS_STOP, "paths layout");
_Static_assert(offsetof(struct litifut_paths_state, lost) == PATHS_LOST, "paths layout");
#endif

#endif
