/* The same as call.S for calls without returns and times (LITIFUT_MODE=stream). */
#define LITIFUT_STREAM
#include "call.S"
