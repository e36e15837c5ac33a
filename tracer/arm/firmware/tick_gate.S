/* The interrupt of the timer that is counted for sending (LITIFUT_SEND=tick:N). */
#include "tracer/arm/firmware/vector_gate.inc"

	gate	litifut_tick_gate, litifut_background_tick
