/* The few string functions that the recorder needs. */
#ifndef LITIFUT_TRACER_TEXT_H
#define LITIFUT_TRACER_TEXT_H

#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

/* The bytes before the NUL. */
uint32_t litifut_length(const char *text);
void litifut_copy(void *to, const void *from, uint32_t size);
bool litifut_equal(const char *a, const char *b);
/* Appends `text` to the NUL-terminated `buffer`; false and unchanged when it does not
 * fit. */
bool litifut_append(char *buffer, uint32_t size, const char *text);

/* What the digits of a number need, and a NUL. */
#define LITIFUT_NUMBER_BYTES 11

bool litifut_append_number(char *buffer, uint32_t size, uint32_t number);
/* The number that `text` begins with; UINT32_MAX when it is that or more. */
uint32_t litifut_number(const char *text);

#pragma GCC visibility pop

#endif
