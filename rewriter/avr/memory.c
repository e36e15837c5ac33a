/* Does what is linked fit into the device? The scripts of avr-libc are those of a family and take
 * no notice; the start-up file of a device has a note with its sizes. */
#include <string.h>

#include "rewriter/avr/avr.h"

#define NOTE ".note.gnu.avr.deviceinfo"
#define NOTE_HEADER 16u /* of namesz, descsz, type and "AVR" */
#define DATA_START 0x800000u

static uint32_t end_of(const struct litifut_image *image, const char *const *names)
{
	for (; *names; names++) {
		const struct litifut_symbol *symbol = litifut_image_symbol(image, *names);

		if (symbol)
			return symbol->address;
	}
	return 0;
}

enum litifut_status litifut_avr_check_memory(const struct litifut_image *image,
					     struct litifut_error *error)
{
	static const char *const flash_ends[] = {"__data_load_end", "_etext", NULL};
	static const char *const memory_ends[] = {"__heap_start", "_end", NULL};
	const struct litifut_section *note = litifut_image_section(image, NOTE);
	uint32_t flash, start, size, stack, used;

	if (!note || !note->bytes || note->size < NOTE_HEADER + 16)
		return LITIFUT_OK;
	flash = litifut_get32(false, note->bytes + NOTE_HEADER) +
		litifut_get32(false, note->bytes + NOTE_HEADER + 4);
	start = litifut_get32(false, note->bytes + NOTE_HEADER + 8);
	size = litifut_get32(false, note->bytes + NOTE_HEADER + 12);
	used = end_of(image, flash_ends);
	if (flash && used > flash && used < DATA_START)
		return litifut_error_set(
			error, LITIFUT_ERROR_UNSUPPORTED, NULL, NULL, LITIFUT_NO_ADDRESS,
			"no room for the tracer: the flash overflowed by %u bytes", used - flash);
	/* An eighth is left for the stack at the least. */
	stack = size / 8;
	used = end_of(image, memory_ends);
	if (size && used >= DATA_START && used - DATA_START > start + size - stack)
		return litifut_error_set(error, LITIFUT_ERROR_UNSUPPORTED, NULL, NULL,
					 LITIFUT_NO_ADDRESS,
					 "no room for the tracer: the RAM, with %u bytes for the "
					 "stack, overflowed by %u bytes",
					 stack, used - DATA_START - (start + size - stack));
	return LITIFUT_OK;
}
