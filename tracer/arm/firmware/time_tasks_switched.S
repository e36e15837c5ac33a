/* The same as time_tasks.S in a program that switches recording off and on. */
#define LITIFUT_TASKS
#define LITIFUT_SWITCHED
#include "time.S"
