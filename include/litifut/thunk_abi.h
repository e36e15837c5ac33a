/* What thunks, which the rewriter writes or the tracer has in assembly, share with the
 * recorder. Included by C and assembly of the tracer and by the rewriter; both assert it
 * where they have it built in.
 *
 * A thread's cursor is the run-time address of the next free word of its chunk of the
 * trace. A thunk finds it by two loads from the thread pointer: the pointer to libc's
 * vector of thread-local blocks (glibc's dtv), and the second word of that vector's first
 * entry, which glibc leaves alone and which is 0 in each new thread.
 *
 * 0 in it, or a multiple of LITIFUT_THUNK_STOP_BYTES, sends a thunk the long way. So does
 * an event of more than a word that would end at or beyond such a multiple; a thunk sees
 * that by bits 4 and up of the new cursor being 0 (5 and up, where an event has 16 bytes), so
 * that no event may be longer than 16 bytes. Every chunk therefore ends at a multiple of
 * LITIFUT_THUNK_STOP_BYTES; where it begins does not matter. */
#ifndef LITIFUT_THUNK_ABI_H
#define LITIFUT_THUNK_ABI_H

#define LITIFUT_THUNK_STOP_BITS 14
#define LITIFUT_THUNK_STOP_BYTES (1 << LITIFUT_THUNK_STOP_BITS)

/* From the start of the vector to the cursor. */
#define LITIFUT_THUNK_CURSOR 4
/* From the thread pointer to the pointer to the vector. */
#define LITIFUT_THUNK_VECTOR_ARM 0
#define LITIFUT_THUNK_VECTOR_MIPS -0x7008

/* `fast_ok` of struct litifut_module, for thunks that run on ARM CPUs of all kinds: how they find
 * the thread pointer and reserve the place for an event. 0, as it is in the file: they can't, and
 * go the long way. */
#define LITIFUT_THUNKS_BY_REGISTER 1 /* TPIDRURO, LDREX and STREX */
#define LITIFUT_THUNKS_BY_HELPERS 2  /* __kuser_get_tls and __kuser_cmpxchg of the kernel */

/* LITIFUT_MODE=paths: bytes of the code of tracer/mips/bits.S that the rewriter copies. */
#define LITIFUT_BITS_BYTES_MIPS 0x6b0
/* Where in it stands what only goes on by the word behind its call, and the same for places where
 * ra holds nothing; */
#define LITIFUT_BITS_ON_MIPS 0x1cc
#define LITIFUT_BITS_BACK_MIPS 0x1e0
/* what begins another word, for code that shifts bits in by itself, and which form that has; */
#define LITIFUT_BITS_ROOM_MIPS 0x1f0
#define LITIFUT_BITS_HEAD_MIPS 4
#define LITIFUT_BITS_STORED_MIPS 8
#define LITIFUT_BITS_STORED_SHIFT_MIPS 1 /* from it to the bytes of an instruction */
/* and such code for each of some registers (rewriter/mips/edge_bits.c), where that and ra hold
 * nothing: for one bit, and behind that for two. */
#define LITIFUT_BITS_HEADS_MIPS 0x250
#define LITIFUT_BITS_HEAD_BYTES_MIPS 56
#define LITIFUT_BITS_TWO_HEADS_BYTES_MIPS (56 + 64)
/* On ARM: from the code for a 0 (tracer/arm/bits.S) to that for places where some registers hold
 * nothing, and bytes of each piece of that: a 0 and a 1 where the flags hold nothing, and where r0
 * and r1, r0 and r2, or r0 and r3 and lr hold nothing either. */
#define LITIFUT_BITS_FREE_ARM 0xf0
#define LITIFUT_BITS_FREE_BYTES 32
/* The same: the recorder gets 0 or 1, a bit, or 2 for a block that is entered, in the lowest bits
 * of the stack pointer; and this where a child is about to be made. */
#define LITIFUT_BITS_SPAWNS 3

#endif
