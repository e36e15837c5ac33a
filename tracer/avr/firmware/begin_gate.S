; send_gate.S where interrupts send the results: the call only begins it.
#include "tracer/avr/firmware/gate.inc"

	gate	litifut_begin_gate, litifut_background_begin, litifut_send_target
