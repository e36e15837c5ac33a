#include "ldwrap/firmware_pin.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Interrupts between two marks, unless LITIFUT_MARK_EVERY says otherwise. */
#define USUAL_EVERY 100

/* A number up to the character `end`. */
static bool read_number(const char **text, char end, uint32_t *number)
{
	char *behind;

	errno = 0;
	unsigned long value = strtoul(*text, &behind, 0);

	if (errno || behind == *text || *behind != end || **text == '-' || value > UINT32_MAX)
		return false;
	*number = (uint32_t)value;
	*text = behind + 1;
	return true;
}

static bool read_write(const char *text, unsigned register_bytes, struct firmware_pin_write *write)
{
	return text && read_number(&text, ':', &write->address) &&
	       read_number(&text, '\0', &write->value) && write->address % register_bytes == 0 &&
	       (register_bytes > 1 || (write->value <= UINT8_MAX && write->address <= UINT16_MAX));
}

enum litifut_status firmware_pin_read(const struct settings *settings, unsigned register_bytes,
				      struct firmware_pin *pin, struct litifut_error *error)
{
	memset(pin, 0, sizeof(*pin));
	if (!settings->mark_set && !settings->mark_clear)
		return LITIFUT_OK;
	pin->used = true;
	pin->every = settings->mark_every ? settings->mark_every : USUAL_EVERY;
	if (register_bytes == 1 && pin->every > UINT16_MAX)
		return litifut_error_set(error, LITIFUT_ERROR_UNSUPPORTED, NULL, NULL,
					 LITIFUT_NO_ADDRESS, "LITIFUT_MARK_EVERY: at most 65535");
	if (pin->every < 2) /* it is cleared one interrupt after it was set */
		return litifut_error_set(error, LITIFUT_ERROR_UNSUPPORTED, NULL, NULL,
					 LITIFUT_NO_ADDRESS, "LITIFUT_MARK_EVERY: at least 2");
	if (!read_write(settings->mark_set, register_bytes, &pin->set))
		return litifut_error_set(error, LITIFUT_ERROR_UNSUPPORTED, NULL, NULL,
					 LITIFUT_NO_ADDRESS,
					 "LITIFUT_MARK_SET: not REGISTER:VALUE: %s",
					 settings->mark_set ? settings->mark_set : "");
	if (!read_write(settings->mark_clear, register_bytes, &pin->clear))
		return litifut_error_set(error, LITIFUT_ERROR_UNSUPPORTED, NULL, NULL,
					 LITIFUT_NO_ADDRESS,
					 "LITIFUT_MARK_CLEAR: not REGISTER:VALUE: %s",
					 settings->mark_clear ? settings->mark_clear : "");
	return LITIFUT_OK;
}
