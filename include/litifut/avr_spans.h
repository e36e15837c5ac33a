/* What the rewriter and the tracer have to agree on where a firmware for AVR records events
 * (LITIFUT_MODE=spans). What is sent is in <litifut/spans_format.h>. */
#ifndef LITIFUT_AVR_SPANS_H
#define LITIFUT_AVR_SPANS_H

/* The ring, the symbol litifut_table, begins and ends at a multiple of 256, and so does each chunk
 * of 128 events: the tracer looks for room only where the low byte of the address becomes 0. */
#define LITIFUT_AVR_EVENT_BYTES 6
#define LITIFUT_AVR_CHUNK_BYTES 768
#define LITIFUT_AVR_RING_ALIGNMENT 256

/* An event: its number, the timer and its value, of 16 bits each.
 *
 * Offsets in the symbol litifut_ring, of 2 bytes but for the last two. */
#define LITIFUT_AVR_RING_HEAD 0      /* address of the next event */
#define LITIFUT_AVR_RING_TAIL 2      /* of the first one that has not been sent */
#define LITIFUT_AVR_RING_LIMIT 4     /* of the chunk that the tail is in */
#define LITIFUT_AVR_RING_LOST 6      /* events since the ring is full */
#define LITIFUT_AVR_RING_OVERFLOWS 8 /* of the timer */
#define LITIFUT_AVR_RING_STATE 10    /* 0: nothing has been recorded */
#define LITIFUT_AVR_RING_END 12      /* of the events that the sender may have read */
#define LITIFUT_AVR_RING_POSITION 14 /* of the event at the tail */
#define LITIFUT_AVR_RING_REPORTED 18 /* events that were lost, and whose loss is in the ring */
#define LITIFUT_AVR_RING_BYTES 22
#define LITIFUT_AVR_CLOCK_BITS 16

/* The lower byte of a site's number is in its stub, and there is code for each upper one: the
 * symbol with this number, unless it is 0. */
#define LITIFUT_AVR_NUMBER_BITS 8

#endif
