/* Reporting of problems that do not stop the work. */
#include "postproc/problems.h"

#include <stdarg.h>
#include <stdio.h>

void post_problem(struct post_problems *problems, const struct litifut_error *error)
{
	problems->count++;
	if (problems->report)
		problems->report(problems->context, error);
}

void post_problem_at(struct post_problems *problems, const char *file, uint64_t address,
		     const char *format, ...)
{
	struct litifut_error error;
	char message[sizeof(error.message)];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(message, sizeof(message), format, arguments);
	va_end(arguments);
	litifut_error_set(&error, LITIFUT_ERROR_FORMAT, file, NULL, address, "%s", message);
	post_problem(problems, &error);
}
