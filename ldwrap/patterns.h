/* The file of LITIFUT_PATTERNS, which `litifut-post mine` writes. */
#ifndef LITIFUT_LDWRAP_PATTERNS_H
#define LITIFUT_LDWRAP_PATTERNS_H

#include "common/error.h"
#include "rewriter/firmware.h"

/* Units of all patterns, to be released. */
struct patterns {
	struct litifut_pattern_unit *units;
	size_t count, capacity;
};

enum litifut_status patterns_read(const char *path, struct patterns *patterns,
				  struct litifut_error *error);

void patterns_release(struct patterns *patterns);

#endif
