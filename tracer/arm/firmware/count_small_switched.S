/* The same as count_small.S in a program that switches recording off and on. */
#define LITIFUT_SWITCHED
#include "count_small.S"
