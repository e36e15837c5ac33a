; Finds the record of a call through Z that is not one of its site's first callee, and times the call
; (litifut_time_first in time.S): as count_pointer.S, with records that have times. Z is the site's entry.
#define LITIFUT_TIMES
#include "tracer/avr/firmware/count_pointer.S"
