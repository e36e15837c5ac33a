/* Makes a program, in C, that makes the calls of a device in each order of two, so that `energy
 * learn` finds what each call does in each state. */
#ifndef LITIFUT_POSTPROC_ENERGY_EXERCISE_H
#define LITIFUT_POSTPROC_ENERGY_EXERCISE_H

#include <stddef.h>
#include <stdio.h>

#include "common/error.h"

/* Writes the source to `file`. The list (`size` bytes; `path` is for messages) has a line for each
 * call; docs/energy.md describes it. Each pair of calls follows each other `repeats` times. */
enum litifut_status energy_exercise(FILE *file, const char *path, const char *list, size_t size,
				    unsigned repeats, struct litifut_error *error);

#endif
