/* The same as time_pointer.S in a program that switches recording off and on. */
#define LITIFUT_SWITCHED
#include "time_pointer.S"
