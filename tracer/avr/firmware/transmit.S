; The handler of the transmitter's interrupt (LITIFUT_PORT=NAME:ADDRESS:INTERRUPT).
#include "tracer/avr/firmware/gate.inc"

	gate	litifut_transmit, litifut_transmit_byte
