/* Which device is the image for, and does it have what the tracer uses? */
#include <stdio.h>
#include <string.h>

#include "rewriter/avr/avr.h"

/* The start-up file of a device has a note with the sizes of flash, memory and EEPROM, then offsets
 * of strings, of which its name is the first. */
#define NOTE ".note.gnu.avr.deviceinfo"
#define NOTE_STRINGS 40u

const char *litifut_avr_device(const struct litifut_image *image)
{
	const struct litifut_section *note = litifut_image_section(image, NOTE);

	for (uint32_t at = NOTE_STRINGS; note && note->bytes && at + 2 < note->size; at++)
		if (!memcmp(note->bytes + at, "at", 2) &&
		    memchr(note->bytes + at, 0, note->size - at))
			return (const char *)note->bytes + at;
	return "";
}

enum litifut_status litifut_avr_check_port(const struct litifut_image *image, const char *port,
					   uint32_t address, struct litifut_error *error)
{
	const char *device = litifut_avr_device(image);
	uint32_t usarts[LITIFUT_AVR_USARTS];
	unsigned count;
	char instead[24 * LITIFUT_AVR_USARTS] = "";
	size_t length = 0;

	if (strcmp(port, "usart") != 0 || !litifut_avr_usarts(device, usarts, &count))
		return LITIFUT_OK;
	for (unsigned i = 0; i < count; i++) {
		if (usarts[i] == address)
			return LITIFUT_OK;
		length += (size_t)snprintf(instead + length, sizeof(instead) - length,
					   "%susart:0x%x", i ? " or " : "", (unsigned)usarts[i]);
	}
	if (!count)
		return litifut_error_set(
			error, LITIFUT_ERROR_UNSUPPORTED, NULL, NULL, LITIFUT_NO_ADDRESS,
			"LITIFUT_PORT: the device, %s, has no USART with the registers that usart "
			"uses: set LITIFUT_PORT=user, and give the program a litifut_putc()",
			device);
	return litifut_error_set(error, LITIFUT_ERROR_UNSUPPORTED, NULL, NULL, LITIFUT_NO_ADDRESS,
				 "LITIFUT_PORT: the device, %s, has no USART at 0x%x: set "
				 "LITIFUT_PORT=%s",
				 device, (unsigned)address, instead);
}
