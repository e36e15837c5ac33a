#include "ldwrap/firmware_send.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <libiberty/libiberty.h>

#include "common/nearest.h"

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

/* What was probably meant, with *rest behind it; NULL: that is not known. */
static const char *meant(const char *text, const char **rest)
{
	static const char *const words[] = {"exit", "never", "call:", "tick:", NULL};
	const char *colon = strchr(text, ':');
	const size_t length = colon ? (size_t)(colon + 1 - text) : strlen(text);
	char *word = xstrndup(text, length);
	const char *nearest = litifut_name_nearest(word, words);

	*rest = text + length;
	/* right in itself, but for what stands behind it */
	if (nearest && (!strcmp(nearest, word) || !strchr(nearest, ':') != !colon))
		nearest = NULL;
	else if (!nearest && *text && !colon && !isdigit((unsigned char)*text)) {
		nearest = "call:"; /* the name of a function */
		*rest = text;
	}
	free(word);
	return nearest;
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
	if (!strncmp(text, "call:", 5) && text[5])
		return LITIFUT_OK;
	const char *rest, *nearest = meant(text, &rest);

	return litifut_error_set(error, LITIFUT_ERROR_UNSUPPORTED, NULL, NULL, LITIFUT_NO_ADDRESS,
				 "LITIFUT_SEND: neither exit, never, call:FUNCTION, tick:N "
				 "nor tick:N:HANDLER (N up to 65535): %s%s%s%s%s",
				 text, nearest ? "; did you mean " : "", nearest ? nearest : "",
				 nearest ? rest : "", nearest ? "?" : "");
}
