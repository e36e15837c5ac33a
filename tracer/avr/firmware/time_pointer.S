; Finds the record of a call through Z, by callee, and times the call (time.S): as count_pointer.S,
; with records that have times.
#define LITIFUT_TIMES
#include "tracer/avr/firmware/count_pointer.S"
