/* Reporting of problems that do not stop the work. */
#include "postproc/problems.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void tell(struct post_problems *problems, const struct litifut_error *error)
{
	char line[1024];

	if (problems->keep && problems->line_count < POST_PROBLEM_LINES) {
		if (!problems->lines)
			problems->lines = calloc(POST_PROBLEM_LINES, sizeof(*problems->lines));
		char *copy = strdup(litifut_error_line(error, line, sizeof(line)));
		if (problems->lines && copy)
			problems->lines[problems->line_count++] = copy;
		else
			free(copy);
	}
	if (problems->report)
		problems->report(problems->context, error);
}

void post_problem(struct post_problems *problems, const struct litifut_error *error)
{
	problems->count++;
	tell(problems, error);
}

static void fill(struct litifut_error *error, const char *file, uint64_t address,
		 const char *format, va_list arguments)
{
	char message[sizeof(error->message)];

	vsnprintf(message, sizeof(message), format, arguments);
	litifut_error_set(error, LITIFUT_ERROR_FORMAT, file, NULL, address, "%s", message);
}

void post_problem_at(struct post_problems *problems, const char *file, uint64_t address,
		     const char *format, ...)
{
	struct litifut_error error;
	va_list arguments;

	va_start(arguments, format);
	fill(&error, file, address, format, arguments);
	va_end(arguments);
	post_problem(problems, &error);
}

void post_note_at(struct post_problems *problems, const char *file, uint64_t address,
		  const char *format, ...)
{
	struct litifut_error error;
	va_list arguments;

	va_start(arguments, format);
	fill(&error, file, address, format, arguments);
	va_end(arguments);
	tell(problems, &error);
}

void post_problems_release(struct post_problems *problems)
{
	for (size_t i = 0; i < problems->line_count; i++)
		free(problems->lines[i]);
	free(problems->lines);
	problems->lines = NULL;
	problems->line_count = 0;
}
