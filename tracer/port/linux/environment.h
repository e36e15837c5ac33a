/* The environment of the program. */
#ifndef LITIFUT_TRACER_ENVIRONMENT_H
#define LITIFUT_TRACER_ENVIRONMENT_H

#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

/* The environment on the stack as the kernel set it up: addresses of strings, 0, and
 * behind it the auxiliary vector. NULL when it can't be found. `buffer` has `size`
 * bytes, 512 at least. */
const uint32_t *litifut_stack_environment(char *buffer, uint32_t size);
/* Gives each string of the environment, and `flag`, to `take`. `buffer` has `size`
 * bytes, 4096 at least; longer strings are left out. */
void litifut_environment_each(char *buffer, uint32_t size,
			      void (*take)(const char *setting, bool flag), bool flag);

#pragma GCC visibility pop

#endif
