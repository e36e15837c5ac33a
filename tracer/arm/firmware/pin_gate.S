/* SysTick, where a pin is set for power analysers (LITIFUT_MARK_SET). */
#include "tracer/arm/firmware/vector_gate.inc"

	gate	litifut_pin_gate, litifut_pin_tick
