/* Folders that the recorder writes to. */
#ifndef LITIFUT_TRACER_FOLDER_H
#define LITIFUT_TRACER_FOLDER_H

#include <stdbool.h>

#pragma GCC visibility push(hidden)

/* What litifut_folder_open() is to do besides. */
enum litifut_folder_options {
	LITIFUT_FOLDER_MAKE = 1, /* makes what is missing of it */
	LITIFUT_FOLDER_SYNC = 2  /* and has it outlive a loss of power */
};

/* Opens the folder BASE/KIND for the names in it, by openat() and the like. `base` is
 * absolute. A descriptor, to be closed by the caller, or a negated error.
 *
 * In a set-uid program, and wherever the effective user is root, each component is
 * looked at by itself, so that no other user chooses the place: -ELOOP, a link that
 * belongs to another user; -EPERM, a folder that others may write to, without the sticky
 * bit or with something of another user under the next name. */
long litifut_folder_open(const char *base, const char *kind, unsigned options);

/* The folder KIND beside `folder`, which is a descriptor or an error, in the same way. */
long litifut_folder_beside(long folder, const char *kind, unsigned options);

/* Makes the names in the folder outlive a loss of power. */
void litifut_folder_sync(long folder);

#pragma GCC visibility pop

#endif
