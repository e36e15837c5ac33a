/* Sending in interrupts: what the timer's, the transmitter's and the program's part of it share. */
#ifndef LITIFUT_TRACER_BACKGROUND_H
#define LITIFUT_TRACER_BACKGROUND_H

#include "tracer/sink/frames/frames.h"

/* Of the sender: sends a byte of a round, if the line takes it. False: that was the last one. */
HIDDEN bool litifut_send_step(void);
/* Interrupts must leave that alone. */
extern HIDDEN volatile bool litifut_send_busy;

/* From the interrupt of the timer. */
HIDDEN void litifut_background_tick(void);

/* Begins a round, unless one is under way. */
HIDDEN void litifut_background_begin(void);

/* Sends a byte, if there is one to be sent. False: there was none, or litifut_send() is at work. */
HIDDEN bool litifut_background_go_on(void);

/* Only where the transmitter has an interrupt: the handler in the vector table, and what starts it.
 */
HIDDEN void litifut_transmit(void) __attribute__((weak));
HIDDEN void litifut_transmit_begin(void) __attribute__((weak));

#endif
