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
	uint32_t done = 0;

	if (!(((uint32_t)to | (uint32_t)from) & 3))
		for (; done + 4 <= size; done += 4)
			*(uint32_t *)((uint32_t)to + done) =
				*(const uint32_t *)((uint32_t)from + done);
	for (; done < size; done++)
		((uint8_t *)to)[done] = ((const uint8_t *)from)[done];
}

bool litifut_equal(const char *a, const char *b)
{
	while (*a && *a == *b) {
		a++;
		b++;
	}
	return *a == *b;
}

void litifut_text_add(struct litifut_text *text, const char *more)
{
	char *at = text->at;

	while (*more && at < text->end)
		*at++ = *more++;
	*at = 0;
	text->at = at;
	text->cut |= *more != 0;
}

void litifut_text_start(struct litifut_text *text, char *buffer, uint32_t size, const char *start)
{
	text->at = buffer;
	text->end = buffer + size - 1;
	text->cut = false;
	litifut_text_add(text, start);
}

void litifut_text_add_number(struct litifut_text *text, uint32_t number)
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
	litifut_text_add(text, at);
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
