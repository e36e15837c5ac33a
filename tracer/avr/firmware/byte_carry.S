; count_carry.S where a counter has one byte (LITIFUT_STUBS=byte).
#define LITIFUT_BYTES
#include "tracer/avr/firmware/count_carry.S"
