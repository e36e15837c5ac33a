/* The default recorder of a link with LITIFUT_ARGS: the same code, with arguments. */
#define LITIFUT_WITH_ARGUMENTS true
#include "tracer/recorder/recorder.c"
