/* `litifut control`: requests to running programs, through the headers of their traces. */
#ifndef LITIFUT_LDWRAP_CONTROL_H
#define LITIFUT_LDWRAP_CONTROL_H

#include <stdint.h>
#include <stdio.h>

#include "common/error.h"

/* Their names, for messages. */
#define CONTROL_REQUESTS "start, stop, snapshot, reset or status"

/* The request of this name (enum litifut_request); LITIFUT_REQUEST_NONE for "status", -1:
 * there is none. */
int control_request(const char *name);

/* The name of the request that may have been meant; NULL: none. */
const char *control_nearest(const char *word);

/* Makes the request of the processes that write the traces, and writes a line about each process to
 * `to`: for each file NAME.trace in the folder `path`/trace, or in `path` itself when
 * that is a folder without such a folder, or for the trace `path`. Stops at the first
 * that fails. The traces of processes that have ended stay as they are; it is an error when a
 * request can be made of no process. */
enum litifut_status control(FILE *to, const char *path, uint32_t request,
			    struct litifut_error *error);

#endif
