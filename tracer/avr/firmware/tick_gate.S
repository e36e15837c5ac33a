; Stands in for the handler of the timer whose interrupts are counted for sending (LITIFUT_SEND=tick:N).
#include "tracer/avr/firmware/gate.inc"

	gate	litifut_tick_gate, litifut_background_tick, litifut_tick_gate_target
