/* LITIFUT_SEND: when a firmware sends its results. */
#ifndef LITIFUT_LDWRAP_FIRMWARE_SEND_H
#define LITIFUT_LDWRAP_FIRMWARE_SEND_H

#include <stdbool.h>
#include <stdint.h>

#include "common/error.h"

struct firmware_send {
	const char *function; /* whose call sends them; NULL: there is none */
	bool asked;           /* the user has named it */
	uint32_t every;       /* so many interrupts of a timer; 0: none does */
	const char *timer;    /* the handler of that; NULL: that of SysTick */
};

/* `text` is `exit', `never', `call:FUNCTION', `tick:N' or `tick:N:HANDLER'; NULL: `exit'. It must
 * stay as long as `send` is used. */
enum litifut_status firmware_send_read(const char *text, struct firmware_send *send,
				       struct litifut_error *error);

#endif
