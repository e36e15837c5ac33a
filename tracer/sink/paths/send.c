/* The sender of a program that records branches. */
#define LITIFUT_PATHS
#include "tracer/sink/frames/send.c"
