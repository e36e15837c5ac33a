/* Saving what a firmware sends over a serial line. */
#ifndef LITIFUT_LDWRAP_CAPTURE_H
#define LITIFUT_LDWRAP_CAPTURE_H

#include <stdbool.h>
#include <stdio.h>

#include "common/error.h"

struct capture_options {
	const char *source; /* a serial device, a file, a pipe; "-": standard input */
	const char *output; /* where all bytes go */
	unsigned baud;      /* of a device; 0: as it is set */
	bool swo;           /* it has the packets of an ITM, of which one port is saved */
	/* Stop after so many whole sendings; 0: after the first one, but where sendings hold
	 * events, each of them others, at the end of the source. */
	unsigned rounds;
	double seconds; /* stop then in any case; 0: never */
	/* Called when the first sending has come and further ones are waited for; may be NULL. */
	void (*goes_on)(const char *source);
	FILE *text; /* gets what the program itself prints on the line; NULL: dropped */
};

/* Returns when it is done, or SIGINT has come. *rounds is how many whole sendings came. */
enum litifut_status capture_run(const struct capture_options *options, unsigned *rounds,
				struct litifut_error *error);

/* Whole sendings without which there is nothing to show. */
static inline unsigned capture_needs(const struct capture_options *options)
{
	return options->rounds ? options->rounds : 1;
}

#endif
