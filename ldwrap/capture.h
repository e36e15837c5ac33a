/* Saving what a firmware sends over a serial line. */
#ifndef LITIFUT_LDWRAP_CAPTURE_H
#define LITIFUT_LDWRAP_CAPTURE_H

#include <stdio.h>

#include "common/error.h"

struct capture_options {
	const char *source; /* a serial device, a file, a pipe; "-": standard input */
	const char *output; /* where all bytes go */
	unsigned baud;      /* of a device; 0: as it is set */
	unsigned rounds;    /* stop after so many whole sendings; 0: at the end of the source */
	unsigned seconds;   /* stop then in any case; 0: never */
	FILE *text;         /* gets what the program itself prints on the line; NULL: dropped */
};

/* Returns when it is done. *rounds is how many whole sendings came. */
enum litifut_status capture_run(const struct capture_options *options, unsigned *rounds,
				struct litifut_error *error);

#endif
