/* The files that a linker script names as inputs: INPUT(FILE...) and GROUP(FILE...). */
#ifndef LITIFUT_LDWRAP_SCRIPT_INPUTS_H
#define LITIFUT_LDWRAP_SCRIPT_INPUTS_H

#include "ldwrap/text_list.h"

/* Appends the paths of those that are there, in the order of the script, to `paths`. Libraries
 * (-lNAME, AS_NEEDED) and what is only in one of its SEARCH_DIR are left out. Nothing where `path`
 * can't be read or is not text. */
void script_inputs_append(const char *path, struct text_list *paths);

#endif
