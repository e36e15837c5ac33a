/* The pool of open calls on an AVR, in the place of the list of <litifut/firmware_pool.h>:
 * addresses have 2 bytes, and return addresses 2 or 3. */
#ifndef LITIFUT_AVR_POOL_H
#define LITIFUT_AVR_POOL_H

/* An even number, as entries are moved by two bytes at once. */
#define LITIFUT_AVR_OPEN_BYTES(return_bytes) (8 + (((return_bytes) + 1) & ~1))

#ifdef __AVR__
/* What the tracer adds to a call is litifut_call_whole, of which litifut_call_inside is in its
 * time, and litifut_pointer_inside in that of a call through a pointer. */
#define POOL_COST_IS_CONSTANT
/* The entries before litifut_open_newest are not in use. */
#define POOL_HAS_NEWEST

/* Offsets in litifut_pool. */
#define POOL_HEAD 0    /* the entry of the newest open call; 0: none has been made */
#define POOL_TICKS 2   /* overflows of the timer */
#define POOL_UNTIMED 4 /* calls that found no entry */
#define POOL_BYTES 8

/* Offsets in an entry; see the same names in <litifut/firmware_pool.h>. */
#define OPEN_STACK 0
#define OPEN_RECORD 2
#define OPEN_START 4
#define OPEN_RETURN 8

/* What the tracer adds to a call, and how much of that is in its time, from the reading of the
 * timer at the call to that at the return; the latter of a call through a pointer as well, whose
 * stub ends by ijmp, of 2 cycles, where that of another one has a jmp, of 3. Each call takes the
 * same way, but when something overflows or a time is a site's first, shortest or longest. One
 * through a pointer takes so many cycles more if it leads to the first callee of its site, or to
 * one that the overflow table has in the first entry looked at, and in each further one. */
#define OPEN_TRY_CYCLES 24
#ifdef __AVR_3_BYTE_PC__
#define OPEN_FIRST_CYCLES 24
#define OPEN_OVERFLOW_CYCLES 134
#define OPEN_BYTES LITIFUT_AVR_OPEN_BYTES(3)
#define OPEN_WHOLE_CYCLES 292
#define OPEN_INSIDE_CYCLES 69
#define OPEN_POINTER_CYCLES 68
#else
#define OPEN_FIRST_CYCLES 15
#define OPEN_OVERFLOW_CYCLES 133
#define OPEN_BYTES LITIFUT_AVR_OPEN_BYTES(2)
#ifdef __AVR_HAVE_JMP_CALL__
#define OPEN_WHOLE_CYCLES 276
#define OPEN_INSIDE_CYCLES 66
#define OPEN_POINTER_CYCLES 65
#else /* rcall and rjmp take a cycle less than call and jmp */
#define OPEN_WHOLE_CYCLES 274
#define OPEN_INSIDE_CYCLES 65
#define OPEN_POINTER_CYCLES 65
#endif
#endif
#endif

#endif
