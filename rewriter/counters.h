/* Where the counters of an image are, see counts.h. */
#ifndef LITIFUT_REWRITER_COUNTERS_H
#define LITIFUT_REWRITER_COUNTERS_H

#include <stdint.h>

struct litifut_counters {
	uint32_t room; /* link-time address */
	uint32_t db;   /* how many belong to the DB */
	/* Link-time address of the counter of return address 0, modulo 2^32. */
	uint32_t of_return;
};

#endif
