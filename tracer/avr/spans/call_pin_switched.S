; call_pin.S in a program that switches recording off and on.
#define LITIFUT_SWITCHED
#include "tracer/avr/spans/call_pin.S"
