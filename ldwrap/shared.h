/* The shared libraries on a command line, and what they need in turn. */
#ifndef LITIFUT_LDWRAP_SHARED_H
#define LITIFUT_LDWRAP_SHARED_H

#include <stdbool.h>

#include "ldwrap/arguments.h"
#include "ldwrap/text_list.h"

/* Appends the names, as DT_NEEDED will have them, of those that need glibc to `names`: of all
 * that are found where -L and the inputs lead to. */
void shared_glibc_users(const struct arguments *arguments, struct text_list *names);

/* Is one of the libraries glibc itself? -Wl,--as-needed leaves it out of DT_NEEDED where nothing
 * of it is used. */
bool shared_has_glibc(const struct arguments *arguments);

#endif
