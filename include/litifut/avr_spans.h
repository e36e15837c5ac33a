/* What the rewriter and the tracer have to agree on where a firmware for AVR records events
 * (LITIFUT_MODE=spans). What is sent is in <litifut/spans_format.h>. */
#ifndef LITIFUT_AVR_SPANS_H
#define LITIFUT_AVR_SPANS_H

/* The ring, the symbol litifut_table, begins and ends at a multiple of 256, and so does each chunk
 * of 128 events: the tracer looks for room only where the low byte of the address becomes 0. */
#define LITIFUT_AVR_EVENT_BYTES 6
#define LITIFUT_AVR_CHUNK_BYTES 768
#define LITIFUT_AVR_RING_ALIGNMENT 256

/* The lower byte of a site's number is in its stub, and there is code for each upper one: the
 * symbol with this number, unless it is 0. */
#define LITIFUT_AVR_NUMBER_BITS 8

#endif
