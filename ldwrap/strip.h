/* What -s, -S and -x would have removed, removed after the rewriting. */
#ifndef LITIFUT_LDWRAP_STRIP_H
#define LITIFUT_LDWRAP_STRIP_H

#include "common/error.h"
#include "ldwrap/arguments.h"
#include "ldwrap/deliver.h"
#include "ldwrap/linker.h"

/* Runs the toolchain's own objcopy on files->image if the command line asks for
 * it. LITIFUT_ERROR_MISSING when no objcopy takes the file; it is then as it was.
 * With -s the file as it was stays beside it, under its name and LITIFUT_NAMES_SUFFIX. */
enum litifut_status strip_as_asked(const struct arguments *arguments, const struct linker *linker,
				   struct link_files *files, struct litifut_error *error);

#endif
