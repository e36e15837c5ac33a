/* By how much an ASSERT of a linker script fails, or a section goes beyond its memory. */
#ifndef LITIFUT_LDWRAP_SCRIPT_ASSERT_H
#define LITIFUT_LDWRAP_SCRIPT_ASSERT_H

#include <stdint.h>

/* GNU ld has written `map`, also where it has made no image. Gives the bytes that are missing for
 * the first assertion that fails, or 0 where that can't be said: it does not compare two sizes or
 * addresses. */
uint64_t script_assert_missing(const char *map);

/* The same for `section' of the script, which has to be in the memory `region'. */
uint64_t script_region_missing(const char *map, const char *section, const char *region);

#endif
