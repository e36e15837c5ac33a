/* One recorder for each process: the symbols that must be seen by all of its
 * modules, whatever the user's link says of symbols. */
#ifndef LITIFUT_LDWRAP_EXPORTS_H
#define LITIFUT_LDWRAP_EXPORTS_H

#include <stdbool.h>

#include "common/error.h"
#include "ldwrap/arguments.h"
#include "ldwrap/text_list.h"

struct exports {
	struct text_list words;       /* to add to the linker's command line */
	bool replaces_version_script; /* the user's own must be left out: it is in `words` */
};

/* Decides what this link needs and writes the files for it into the scratch
 * folder. Free with exports_release(). */
enum litifut_status exports_prepare(const struct arguments *arguments, struct exports *exports,
				    struct litifut_error *error);

void exports_release(struct exports *exports);

#endif
