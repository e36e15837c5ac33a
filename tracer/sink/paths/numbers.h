/* Between the code that is called for a branch (tracer/arm/paths/numbers.S) and numbers.c. */
#ifndef LITIFUT_TRACER_PATHS_NUMBERS_H
#define LITIFUT_TRACER_PATHS_NUMBERS_H

#include <litifut/numbers_format.h>

#include "tracer/sink/paths/ring.h"

/* The entry of the activation that runs now: behind entry 0, if it has one. */
extern HIDDEN struct litifut_numbers_entry *litifut_path_top;

/* What that code can't do in a few instructions: `code' with the words that stand behind its call,
 * and the stack pointer there. With interrupts off. */
HIDDEN void litifut_numbers_slow(enum litifut_numbers_code code, const uint32_t *words,
				 uint32_t stack);

#endif
