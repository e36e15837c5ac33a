#include <stdlib.h>
#include <string.h>

#include "node.h"

static bool buffer_grow(struct buffer *buffer, uint8_t room)
{
	uint8_t *bytes = realloc(buffer->bytes, room);

	if (!bytes)
		return false;
	buffer->bytes = bytes;
	buffer->room = room;
	return true;
}

static bool buffer_reserve(struct buffer *buffer, uint8_t more)
{
	if ((uint8_t)(buffer->room - buffer->used) >= more)
		return true;
#ifdef BUFFER_slow
	return buffer_grow(buffer, (uint8_t)(buffer->used + more));
#else
	return buffer_grow(buffer, FRAME_BYTES);
#endif
}

bool buffer_append(struct buffer *buffer, uint8_t byte)
{
	if (!buffer_reserve(buffer, 1))
		return false;
	buffer->bytes[buffer->used++] = byte;
	return true;
}

void buffer_free(struct buffer *buffer)
{
	free(buffer->bytes);
	memset(buffer, 0, sizeof(*buffer));
}

static uint8_t number_bytes(uint32_t number)
{
	uint8_t bytes = 1;

	while (number >>= 7)
		bytes++;
	return bytes;
}

bool number_append(struct buffer *buffer, uint32_t number)
{
	for (uint8_t left = number_bytes(number); left--;)
		if (!buffer_append(buffer,
				   (uint8_t)((number >> 7 * left & 0x7f) | (left ? 0x80 : 0))))
			return false;
	return true;
}

bool number_take(const struct buffer *buffer, uint8_t *at, uint32_t *number)
{
	*number = 0;
	while (*at < buffer->used) {
		uint8_t byte = buffer->bytes[(*at)++];

		*number = *number << 7 | (byte & 0x7f);
		if (!(byte & 0x80))
			return true;
	}
	return false;
}

void bundle_make(struct bundle *bundle, uint16_t number)
{
	for (uint8_t i = 0; i < FIELDS; i++)
		bundle->fields[i] = (uint32_t)i * i * (i & 3 ? 1 : 100) + (i == 12 ? number : 0);
	for (uint8_t i = 0; i < PAYLOAD_BYTES; i++)
		bundle->payload[i] = (uint8_t)(number + i);
}

static bool payload_append(const struct bundle *bundle, struct buffer *buffer)
{
	for (uint8_t i = 0; i < PAYLOAD_BYTES; i++)
		if (!buffer_append(buffer, bundle->payload[i]))
			return false;
	return true;
}

bool bundle_encode(const struct bundle *bundle, struct buffer *buffer)
{
	return header_append(buffer, bundle) && payload_append(bundle, buffer);
}

bool bundle_decode(const struct buffer *buffer, struct bundle *bundle)
{
	uint8_t at = 0;

	if (!header_take(buffer, &at, bundle) || buffer->used - at != PAYLOAD_BYTES)
		return false;
	memcpy(bundle->payload, buffer->bytes + at, PAYLOAD_BYTES);
	return true;
}
