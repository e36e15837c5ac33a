/* The clock that times the calls of a firmware: LITIFUT_CLOCK of a link. */
#ifndef LITIFUT_LDWRAP_FIRMWARE_CLOCK_H
#define LITIFUT_LDWRAP_FIRMWARE_CLOCK_H

#include <stdint.h>

#include "common/error.h"

struct firmware_clock {
	const char *driver; /* our object for it, static */
	char *function;     /* of the program, owned; NULL: none */
	uint32_t hertz;     /* 0: not known */
};

/* NAME or NAME:HERTZ, where NAME is dwt, systick, timer1 or a function. NULL: the `usual' one of
 * the CPU, or, if that is NULL, the one that the CPUs of this runtime have. */
enum litifut_status firmware_clock_read(const char *text, const char *usual, const char *runtime,
					struct firmware_clock *clock, struct litifut_error *error);

#endif
