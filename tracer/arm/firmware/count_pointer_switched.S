/* The same as count_pointer.S in a program that switches recording off and on. */
#define LITIFUT_SWITCHED
#include "count_pointer.S"
