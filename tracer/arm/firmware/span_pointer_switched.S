/* The same as span_pointer.S in a program that switches recording off and on. */
#define LITIFUT_SWITCHED
#include "span_pointer.S"
