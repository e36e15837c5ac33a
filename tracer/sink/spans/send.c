/* The sender of a program that records events. */
#define LITIFUT_SPANS
#include "tracer/sink/frames/send.c"
