; count_pointer.S in a program that switches recording off and on.
#define LITIFUT_SWITCHED
#include "tracer/avr/firmware/count_pointer.S"
