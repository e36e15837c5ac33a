/* From one set of traced functions to the next, by the advice of `litifut-post energy -f include`,
 * until that asks for no other set: litifut energy-loop. */
#ifndef LITIFUT_LDWRAP_ENERGY_LOOP_H
#define LITIFUT_LDWRAP_ENERGY_LOOP_H

#include <stdio.h>

#include "common/error.h"

struct energy_loop_options {
	char **build;        /* the command that links, with its arguments and a NULL */
	const char *measure; /* of the shell: runs the program, records its power and its trace */
	const char *energy;  /* of the shell: words for litifut-post energy */
	const char *config;  /* settings of the first link; NULL: only calls of main are traced */
	const char *output;  /* the settings of the next link, and at the end the last ones */
	unsigned rounds;     /* at most */
};

/* Runs the rounds and prints a line for each of them to `to`. Returns LITIFUT_OK when the advice
 * asks for no other set of functions, or what went wrong; LITIFUT_ERROR_MISSING: the last round
 * still asked for another one. */
enum litifut_status energy_loop(FILE *to, const struct energy_loop_options *options,
				struct litifut_error *error);

#endif
