; time.S in a program that switches recording off and on.
#define LITIFUT_SWITCHED
#include "tracer/avr/firmware/time.S"
