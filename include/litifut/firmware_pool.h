/* The pool of open calls, as the assembly of a CPU's tracer, the sender and the rewriter share it.
 * <litifut/frames_format.h> says what of it others read. */
#ifndef LITIFUT_FIRMWARE_POOL_H
#define LITIFUT_FIRMWARE_POOL_H

#ifdef __AVR__
#include <litifut/avr_pool.h>
#else
/* Offsets in litifut_pool, which zeroed memory starts. */
#define POOL_HEAD 0     /* the call that was entered last, of all stacks */
#define POOL_FREE 4     /* entries that were in use before */
#define POOL_USED 8     /* bytes of litifut_open that were ever in use */
#define POOL_UNTIMED 12 /* calls that found no entry */
#define POOL_BYTES 16
#endif
/* Where the tasks of a kernel are timed, behind these: the one that ran at the last call or return,
 * as the kernel names it, and its calls since then. */
#define POOL_TASK 16
#define POOL_CALLS 20
#define POOL_ENTRY 24 /* its struct litifut_task; 0: the clock has not been started */
#define POOL_SINCE 28 /* when it began to run */
#define POOL_TASKS_BYTES 32

/* Where events are recorded, litifut_pool goes on with the state of their ring, which the symbol
 * litifut_table is. `head` is the position of the next event, `limit` that of the first one that
 * has no room. It is RING_NO_LIMIT where nothing is sent: the newest events replace the oldest, and
 * the position that has this number is left out. */
#define RING_NO_LIMIT 0xffffffff
#define RING_HEAD 16
#define RING_LIMIT 20
#define RING_MASK 24 /* events that the ring has room for, a power of two, less 1 */
#define RING_BASE 28
#define RING_LOST 32 /* events that were lost, */
#define RING_TOLD 36 /* and how many of them a LITIFUT_SPAN_LOST says */
#define RING_STATE_BYTES 40

/* An event in the ring: its time, its value, and its number in the upper half of a word. Of a
 * LITIFUT_SPAN_CALLEE the first word is the callee. */
#define EVENT_BYTES 8
#define EVENT_SHIFT 3 /* the same as a power of two */

/* Offsets in an entry of litifut_open. */
#ifndef __AVR__
#define OPEN_NEXT 0 /* the one entered before it that has not returned, or the next free one */
#define OPEN_RETURN 4
#define OPEN_STACK 8 /* sp before and after the call, which no two open calls of tasks share */
#define OPEN_RECORD 12
#define OPEN_START 16
#define OPEN_BYTES 20
#define OPEN_SPAN_BYTES 12 /* where events are recorded: without the last two */
#endif

#endif
