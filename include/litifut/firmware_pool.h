/* The pool of open calls on a Cortex-M, as the assembly of tracer/arm/firmware and the sender
 * share it. <litifut/frames_format.h> says what of it others read. */
#ifndef LITIFUT_FIRMWARE_POOL_H
#define LITIFUT_FIRMWARE_POOL_H

/* Offsets in litifut_pool, which zeroed memory starts. */
#define POOL_HEAD 0     /* the call that was entered last, of all stacks */
#define POOL_FREE 4     /* entries that were in use before */
#define POOL_USED 8     /* bytes of litifut_open that were ever in use */
#define POOL_UNTIMED 12 /* calls that found no entry */
#define POOL_BYTES 16

/* Offsets in an entry of litifut_open. */
#define OPEN_NEXT 0 /* the one entered before it that has not returned, or the next free one */
#define OPEN_RETURN 4
#define OPEN_STACK 8 /* sp before and after the call, which no two open calls of tasks share */
#define OPEN_RECORD 12
#define OPEN_START 16
#define OPEN_BYTES 20

#endif
