/* What goes wrong without stopping the work: reported at once through a callback,
 * so that only the main file prints, and counted for the exit status. */
#ifndef LITIFUT_POSTPROC_PROBLEMS_H
#define LITIFUT_POSTPROC_PROBLEMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/error.h"

struct post_problems {
	void (*report)(void *context, const struct litifut_error *error); /* may be NULL */
	void *context;
	unsigned count;
	/* With `keep`, the lines of the first problems, for a format that shows them. */
	bool keep;
	char **lines;
	size_t line_count;
};

#define POST_PROBLEM_LINES 200u /* that are kept */

void post_problem(struct post_problems *problems, const struct litifut_error *error);

/* The same, from parts; see litifut_error_set(). */
void post_problem_at(struct post_problems *problems, const char *file, uint64_t address,
		     const char *format, ...) __attribute__((format(printf, 4, 5)));

/* A line of the same form about what is not a problem, so that it is not counted. */
void post_note_at(struct post_problems *problems, const char *file, uint64_t address,
		  const char *format, ...) __attribute__((format(printf, 4, 5)));

/* Frees the lines that were kept. */
void post_problems_release(struct post_problems *problems);

#endif
