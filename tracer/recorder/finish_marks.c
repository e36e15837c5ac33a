/* The end of a trace with marks. */
#define LITIFUT_WITH_MARKS true
#include "tracer/recorder/finish.c"
