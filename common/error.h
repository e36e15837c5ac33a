/* The error object that every host library function fills on failure. Only
 * main files print it. */
#ifndef LITIFUT_COMMON_ERROR_H
#define LITIFUT_COMMON_ERROR_H

#include <stdint.h>

/* Returned by library functions: 0 is success, everything else has filled the
 * caller's struct litifut_error. */
enum litifut_status {
	LITIFUT_OK = 0,
	LITIFUT_ERROR_IO,          /* a system call failed; `message` ends in strerror */
	LITIFUT_ERROR_FORMAT,      /* the input is damaged or not what was expected */
	LITIFUT_ERROR_UNSUPPORTED, /* well-formed, but not for us (wrong machine, R6, ...) */
	LITIFUT_ERROR_MISSING,     /* no symbols, no tracer inside, ... */
	LITIFUT_ERROR_SPACE,       /* reserved room in the image was too small: link again */
	LITIFUT_ERROR_INTERNAL     /* our own verification failed */
};

#define LITIFUT_NO_ADDRESS UINT64_MAX

struct litifut_error {
	enum litifut_status status;
	char file[256];   /* "" when no file is concerned */
	char section[64]; /* "" when no section is concerned */
	uint64_t address; /* LITIFUT_NO_ADDRESS when none is concerned */
	char message[256];
};

/* Sets every field and returns `status`, so that callers can write
 * `return litifut_error_set(...)`. `file` and `section` may be NULL. `error`
 * may be NULL when the caller does not care. */
enum litifut_status litifut_error_set(struct litifut_error *error, enum litifut_status status,
				      const char *file, const char *section, uint64_t address,
				      const char *format, ...)
	__attribute__((format(printf, 6, 7)));

/* The same for memory that could not be had while `file` was worked on. */
enum litifut_status litifut_error_memory(struct litifut_error *error, const char *file);

/* Formats one line without a newline: "FILE: SECTION: 0xADDRESS: MESSAGE",
 * leaving out what is not known. Returns `buffer`. */
const char *litifut_error_line(const struct litifut_error *error, char *buffer, unsigned size);

#endif
