/* What the names of functions say of calls that code which is not traced makes. */
#ifndef LITIFUT_POSTPROC_TIMELINE_ENTRIES_H
#define LITIFUT_POSTPROC_TIMELINE_ENTRIES_H

#include <stdbool.h>

bool post_is_main(const char *name);

/* One of the functions that a toolchain makes, such as the one for the static objects of a source
 * file, and that the loader calls one after another. */
bool post_is_initialiser(const char *name);

/* May a function of this name, of the C library or the unwinder, have called `entered` of the
 * program? */
bool post_calls_back(const char *name, const char *entered);

#endif
