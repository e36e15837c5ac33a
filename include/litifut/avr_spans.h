/* What the rewriter and the tracer have to agree on where a firmware for AVR records events
 * (LITIFUT_MODE=spans). What is sent is in <litifut/spans_format.h>. */
#ifndef LITIFUT_AVR_SPANS_H
#define LITIFUT_AVR_SPANS_H

/* The ring, the symbol litifut_table, begins and ends at a multiple of 256, and so does each chunk
 * of 128 events: the tracer looks for room only where the low byte of the address becomes 0. */
#define LITIFUT_AVR_EVENT_BYTES 6
#define LITIFUT_AVR_CHUNK_BYTES 768
#define LITIFUT_AVR_RING_ALIGNMENT 256

/* Words of a stub, all of which have as many, and where in it the code that records returns to when
 * the callee is about to be called, directly or through a pointer. It returns elsewhere when the
 * callee has returned. */
#define LITIFUT_AVR_STUB_WORDS 12
#define LITIFUT_AVR_STREAM_STUB_WORDS 6 /* where returns are not recorded */
#define LITIFUT_AVR_STUB_ENTERS 2
#define LITIFUT_AVR_STUB_ENTERS_POINTER 5

#endif
