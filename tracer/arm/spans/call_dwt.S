/* The same as call.S with the counter of CPU cycles as the clock (LITIFUT_CLOCK=dwt). */
#define LITIFUT_SPAN_DWT
#include "call.S"
