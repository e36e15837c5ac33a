/* LITIFUT_DEFAULTS: settings of the recorder that a link gives a program. */
#ifndef LITIFUT_LDWRAP_DEFAULTS_H
#define LITIFUT_LDWRAP_DEFAULTS_H

#include <stdbool.h>
#include <stddef.h>

/* Reports to `warn` each of the blank-separated settings in `text` that the recorder won't
 * know, or whose value it will take for another: one line each. */
void defaults_check(const char *text, void (*warn)(const char *line));

/* Is `name`, with LITIFUT_ before it, a setting of the recorder? */
bool defaults_know(const char *name);

/* The settings in the environment of a link that only the recorder uses, and that are not in
 * `defaults` (NULL: there are none): names, separated by commas, to be freed. NULL: there is no
 * such setting. Those of where a trace is, and of messages, are left out: a build may run what it
 * has linked. */
char *defaults_in_environment(const char *defaults);

/* Puts the names of all, without LITIFUT_, into `names`, which has room for `room`. Returns
 * how many. */
size_t defaults_names(const char **names, size_t room);

#endif
