/* Functions of the loaded files. */
#ifndef LITIFUT_TRACER_LOADED_H
#define LITIFUT_TRACER_LOADED_H

#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

enum litifut_loaded_file { LITIFUT_LOADED_EXECUTABLE, LITIFUT_LOADED_LIBC };

/* The run-time addresses of the file's functions of these names, with the Thumb bit; 0: it
 * has no such function. The names follow each other, each with its NUL. False: libc is not among
 * the loaded files, or there is no list of them. */
bool litifut_functions_of(enum litifut_loaded_file which, const char *names, uint32_t *addresses,
			  uint32_t count);

/* The run-time address of a function in the first loaded file whose name begins with
 * `library`; 0: none. */
uint32_t litifut_library_function(const char *library, const char *name);

#pragma GCC visibility pop

#endif
