/* The same as stream.S in a program that switches recording off and on. */
#define LITIFUT_STREAM
#define LITIFUT_SWITCHED
#include "call.S"
