/* The few string functions that the recorder needs. */

#include "tracer/recorder/text.h"

uint32_t litifut_length(const char *text)
{
	uint32_t length = 0;

	while (text[length])
		length++;
	return length;
}

void litifut_copy(void *to, const void *from, uint32_t size)
{
	for (uint32_t i = 0; i < size; i++)
		((uint8_t *)to)[i] = ((const uint8_t *)from)[i];
}

bool litifut_equal(const char *a, const char *b)
{
	while (*a && *a == *b) {
		a++;
		b++;
	}
	return *a == *b;
}

bool litifut_append(char *buffer, uint32_t size, const char *text)
{
	const char *end = buffer + size;
	char *at = buffer;
	char *start;

	while (*at)
		at++;
	start = at;
	do {
		if (at == end) {
			*start = 0;
			return false;
		}
	} while ((*at++ = *text++));
	return true;
}

bool litifut_append_number(char *buffer, uint32_t size, uint32_t number)
{
	char digits[LITIFUT_NUMBER_BYTES];
	char *at = digits + sizeof(digits) - 1;

	*at = 0;
	do {
		/* a tenth, or one less, without libgcc's division */
		uint32_t tenth = (number >> 1) + (number >> 2);
		uint32_t digit;

		tenth += tenth >> 4;
		tenth += tenth >> 8;
		tenth += tenth >> 16;
		tenth >>= 3;
		digit = number - tenth * 10;
		if (digit > 9) {
			digit -= 10;
			tenth++;
		}
		*--at = (char)('0' + digit);
		number = tenth;
	} while (number);
	return litifut_append(buffer, size, at);
}

uint32_t litifut_number(const char *text)
{
	uint32_t number = 0;

	for (; *text >= '0' && *text <= '9'; text++) {
		if (number > (UINT32_MAX - 9) / 10)
			return UINT32_MAX;
		number = number * 10 + (uint32_t)(*text - '0');
	}
	return number;
}
