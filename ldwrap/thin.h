/* Thin archives: GNU ld's map names their members as if they were objects of the command line. */
#ifndef LITIFUT_LDWRAP_THIN_H
#define LITIFUT_LDWRAP_THIN_H

#include "ldwrap/arguments.h"
#include "ldwrap/text_list.h"

/* Appends globs for the members of all thin archives that `libraries` mean to `objects`. */
void thin_members(const struct arguments *arguments, const struct text_list *libraries,
		  struct text_list *objects);

#endif
