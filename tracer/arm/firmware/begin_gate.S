/* send_gate.S where interrupts send the results: the call only begins it. */
#define NAME litifut_begin_gate
#define FUNCTION litifut_background_begin
#include "tracer/arm/firmware/send_gate.S"
