/* The same as time.S in a program whose kernel says which task runs (LITIFUT_TASK). */
#define LITIFUT_TASKS
#include "time.S"
