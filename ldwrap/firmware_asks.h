/* Which functions of <litifut/firmware.h> a program calls. */
#ifndef LITIFUT_LDWRAP_FIRMWARE_ASKS_H
#define LITIFUT_LDWRAP_FIRMWARE_ASKS_H

#include <stdbool.h>

struct firmware_asks {
	/* The one of these that is named first, NULL: none; static. */
	const char *switches; /* litifut_start() or litifut_stop() */
	const char *resets;
	bool sends;
	bool starts;
	bool marks;
	bool tokens; /* or it has litifut_token(), which records (rewriter/tokens.h) */
};

/* Reads it from the cross reference table (--cref) of a map file. No map: nothing is called. */
void firmware_asks_read(const char *map, struct firmware_asks *asks);

#endif
