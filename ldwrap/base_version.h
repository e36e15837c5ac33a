/* The name of a file among its own versions. */
#ifndef LITIFUT_LDWRAP_BASE_VERSION_H
#define LITIFUT_LDWRAP_BASE_VERSION_H

#include "common/error.h"
#include "ldwrap/arguments.h"

/* A file with versions and without a SONAME has its output's name as the base of them. If
 * that is the name of `image`, it becomes the one that the linker would have taken from
 * `target`, which must be the same but for something put before its last part; what is left
 * over in the string table is zeros. `arguments` tell whether the build-id, which has seen
 * the name, is one of the contents; then it is made anew. Errors: the file can't be read or
 * written. */
enum litifut_status base_version_rename(const char *image, const char *target,
					const struct arguments *arguments,
					struct litifut_error *error);

#endif
