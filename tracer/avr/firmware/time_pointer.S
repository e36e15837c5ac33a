; Times a call through Z, by callee: as count_pointer.S, with records that have times.
#define LITIFUT_TIMES
#include "tracer/avr/firmware/count_pointer.S"
