/* Reading and touching up the objects that are linked in with the user's. */
#ifndef LITIFUT_LDWRAP_OBJECTS_H
#define LITIFUT_LDWRAP_OBJECTS_H

#include "common/error.h"
#include "ldwrap/text_list.h"

/* Appends the names of the global symbols that the object at `path` defines. */
enum litifut_status object_defined_symbols(const char *path, struct text_list *names,
					   struct litifut_error *error);

/* Marks the unwind table of the object at `path` as not to be linked. */
enum litifut_status object_drop_unwind_table(const char *path, struct litifut_error *error);

#endif
