; Stands in for a function whose call sends the results (LITIFUT_SEND=call:FUNCTION): the stubs
; of its call sites come here.
#include "tracer/avr/firmware/gate.inc"

	gate	litifut_send_gate, litifut_send, litifut_send_target
