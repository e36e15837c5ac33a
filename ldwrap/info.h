/* `litifut info`: what a rewritten file says of itself. */
#ifndef LITIFUT_LDWRAP_INFO_H
#define LITIFUT_LDWRAP_INFO_H

#include <stdbool.h>
#include <stdio.h>

#include "common/error.h"

struct info_options {
	bool sites;   /* list every call site */
	bool skipped; /* list those that were left */
	bool json;
};

/* Writes what is known of the file at `path` to `to`, for people or, with
 * `json`, as one JSON object without a newline at its end. */
enum litifut_status info_write(FILE *to, const char *path, const struct info_options *options,
			       struct litifut_error *error);

#endif
