/* How an error is carried from a library function to the main file. */
#include "common/error.h"

#include <stdarg.h>
#include <stdio.h>

enum litifut_status litifut_error_set(struct litifut_error *error, enum litifut_status status,
				      const char *file, const char *section, uint64_t address,
				      const char *format, ...)
{
	if (!error)
		return status;
	error->status = status;
	snprintf(error->file, sizeof(error->file), "%s", file ? file : "");
	snprintf(error->section, sizeof(error->section), "%s", section ? section : "");
	error->address = address;
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(error->message, sizeof(error->message), format, arguments);
	va_end(arguments);
	return status;
}

enum litifut_status litifut_error_memory(struct litifut_error *error, const char *file)
{
	return litifut_error_set(error, LITIFUT_ERROR_IO, file, NULL, LITIFUT_NO_ADDRESS,
				 "out of memory");
}

const char *litifut_error_line(const struct litifut_error *error, char *buffer, unsigned size)
{
	char address[32] = "";

	if (error->address != LITIFUT_NO_ADDRESS)
		snprintf(address, sizeof(address), "0x%llx: ", (unsigned long long)error->address);
	snprintf(buffer, size, "%s%s%s%s%s%s", error->file, error->file[0] ? ": " : "",
		 error->section, error->section[0] ? ": " : "", address, error->message);
	return buffer;
}
