/* By how much an ASSERT of a linker script fails. */
#ifndef LITIFUT_LDWRAP_SCRIPT_ASSERT_H
#define LITIFUT_LDWRAP_SCRIPT_ASSERT_H

#include <stdint.h>

/* GNU ld has written `map`, also where it has made no image. Gives the bytes that are missing for
 * the first assertion that fails, or 0 where that can't be said: it does not compare two sizes or
 * addresses. */
uint64_t script_assert_missing(const char *map);

#endif
