/* Bytes as hex digits: build-ids, and what identifies a firmware. */
#ifndef LITIFUT_COMMON_HEX_H
#define LITIFUT_COMMON_HEX_H

#include <stddef.h>
#include <stdint.h>

/* Two digits for each byte, into `text`, which has room for them and a NUL. Returns it. */
static inline const char *litifut_hex(const uint8_t *bytes, size_t count, char *text)
{
	static const char digits[] = "0123456789abcdef";

	for (size_t i = 0; i < count; i++) {
		text[2 * i] = digits[bytes[i] >> 4];
		text[2 * i + 1] = digits[bytes[i] & 0xf];
	}
	text[2 * count] = '\0';
	return text;
}

#endif
