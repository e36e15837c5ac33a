/* The same as stream_pointer.S in a program that switches recording off and on. */
#define LITIFUT_SWITCHED
#include "stream_pointer.S"
