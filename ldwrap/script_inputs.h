/* The files that a linker script names as inputs: INPUT(FILE...) and GROUP(FILE...). */
#ifndef LITIFUT_LDWRAP_SCRIPT_INPUTS_H
#define LITIFUT_LDWRAP_SCRIPT_INPUTS_H

#include <stdbool.h>

#include "ldwrap/text_list.h"

/* Is it a pipe or the like? What one program has read of it is not there for the linker. */
bool script_is_read_once(const char *path);

/* Appends the paths of those that are there, in the order of the script, to `paths`. Libraries
 * (-lNAME, AS_NEEDED) and what is only in one of its SEARCH_DIR are left out. Nothing where `path`
 * can't be read, can be read only once, or is not text. */
void script_inputs_append(const char *path, struct text_list *paths);

#endif
