/* Whether a link makes something that LITIFUT can rewrite. */
#ifndef LITIFUT_LDWRAP_DECISION_H
#define LITIFUT_LDWRAP_DECISION_H

#include <stdbool.h>

#include "ldwrap/arguments.h"
#include "rewriter/rewriter.h"

struct decision {
	bool rewrite;
	const char *reason; /* why not, for people; static; NULL when `rewrite` */
	/* Of a firmware: the name of the runtime for its CPU, static; NULL: a Linux program. */
	const char *firmware;
	bool is_program; /* it makes a program or library all the same, which is reported when
			  * all are to be traced */
	bool refused;    /* the CPU is of a kind that is traced, but this one cannot be */
	/* Of the first ELF input, when `rewrite`; the rest is zero. */
	struct litifut_rewrite_plan target;
};

/* Reads the command line and the headers of its inputs; touches nothing. */
void decision_make(const struct arguments *arguments, struct decision *decision);

/* What configure, CMake, Meson and makefiles link to see whether it can be done: they may take
 * words for a failure. */
bool decision_is_trial(const char *output);

/* Prefixes under which the linker for this link is usually installed, most
 * likely first, guessed from -m and --dynamic-linker; NULL-terminated, static.
 * NULL when -m does not name a CPU that can be traced. */
const char *const *decision_triplets(const struct arguments *arguments);

/* Tracer objects are made for "arm", "mips" and "mipsel". NULL: none of them. */
const char *decision_architecture(const struct litifut_rewrite_plan *target);

#endif
