#include "node.h"

uint8_t number_bytes(uint32_t number)
{
	uint8_t bytes = 1;

	while (number >>= 7)
		bytes++;
	return bytes;
}

void number_write(uint8_t *bytes, uint32_t number)
{
	uint8_t at = number_bytes(number) - 1;

	bytes[at] = number & 0x7f;
	while (at--) {
		number >>= 7;
		bytes[at] = (uint8_t)(number & 0x7f) | 0x80;
	}
}

bool number_read(const uint8_t *bytes, uint8_t size, uint8_t *at, uint32_t *number)
{
	*number = 0;
	while (*at < size) {
		uint8_t byte = bytes[(*at)++];

		*number = *number << 7 | (byte & 0x7f);
		if (!(byte & 0x80))
			return true;
	}
	return false;
}
