; The overflows of timer 1 set a pin as well, for power analysers (LITIFUT_MARK_SET).
#define SETS_PIN
#include "tracer/avr/spans/call.S"
