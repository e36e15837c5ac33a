#include "ldwrap/firmware_send.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static bool read_tick(const char *text, struct firmware_send *send)
{
	char *end;

	errno = 0;
	unsigned long value = strtoul(text, &end, 10);

	if (errno || *text < '0' || *text > '9' || !value || value > UINT16_MAX)
		return false;
	send->every = (uint32_t)value;
	if (*end == ':')
		send->timer = end + 1;
	return !*end || (send->timer && *send->timer);
}

enum litifut_status firmware_send_read(const char *text, struct firmware_send *send,
				       struct litifut_error *error)
{
	memset(send, 0, sizeof(*send));
	if (text && !strcmp(text, "never"))
		return LITIFUT_OK;
	send->function = "_exit";
	if (!text || !strcmp(text, "exit"))
		return LITIFUT_OK;
	/* the last numbers as well, where the program ends */
	if (!strncmp(text, "tick:", 5) && read_tick(text + 5, send))
		return LITIFUT_OK;
	send->asked = true;
	send->function = text + 5;
	return !strncmp(text, "call:", 5) && text[5]
		       ? LITIFUT_OK
		       : litifut_error_set(
				 error, LITIFUT_ERROR_UNSUPPORTED, NULL, NULL, LITIFUT_NO_ADDRESS,
				 "LITIFUT_SEND: neither exit, never, call:FUNCTION, tick:N "
				 "nor tick:N:HANDLER (N up to 65535): %s",
				 text);
}
