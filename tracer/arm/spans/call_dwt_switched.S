/* The same as call_dwt.S in a program that switches recording off and on. */
#define LITIFUT_SPAN_DWT
#define LITIFUT_SWITCHED
#include "call.S"
