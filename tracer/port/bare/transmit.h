/* Of a port whose transmitter has an interrupt, for transmit.c. */
#ifndef LITIFUT_TRACER_PORT_TRANSMIT_H
#define LITIFUT_TRACER_PORT_TRANSMIT_H

#include "tracer/port/bare/port.h"
#include "tracer/sink/frames/background.h"

HIDDEN void litifut_transmit(void);

/* Lets the transmitter ask for bytes, or not. */
HIDDEN void litifut_transmit_enable(void);
HIDDEN void litifut_transmit_disable(void);

/* Takes back what it has asked for so far. */
HIDDEN void litifut_transmit_answer(void);

#endif
