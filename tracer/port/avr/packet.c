/* The same for all CPUs. */
#include "tracer/port/bare/packet.c"
