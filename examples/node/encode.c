/* The bytes of a bundle: the header, then the payload. With BUFFER=slow the memory holds the
 * payload at first, and grows for each field, which is put before it. */
#include <string.h>

#include "node.h"

#ifdef BUFFER_slow
static bool encoder_start(struct encoder *encoder, const struct bundle *bundle)
{
	if (!memory_take(encoder->memory, PAYLOAD_BYTES))
		return false;
	memcpy(encoder->memory->bytes, bundle->payload, PAYLOAD_BYTES);
	return true;
}

static bool encoder_make_room(struct encoder *encoder, uint8_t bytes)
{
	if (!memory_resize(encoder->memory, encoder->memory->size + bytes))
		return false;
	memory_make_gap(encoder->memory, encoder->at, bytes);
	return true;
}
#else
static bool encoder_start(struct encoder *encoder, const struct bundle *bundle)
{
	uint8_t header = header_bytes(bundle);

	if (!memory_take(encoder->memory, header + PAYLOAD_BYTES))
		return false;
	memcpy(encoder->memory->bytes + header, bundle->payload, PAYLOAD_BYTES);
	return true;
}

static bool encoder_make_room(struct encoder *encoder, uint8_t bytes)
{
	return encoder->at + bytes + PAYLOAD_BYTES <= encoder->memory->size;
}
#endif

bool encoder_append(struct encoder *encoder, uint32_t number)
{
	uint8_t bytes = number_bytes(number);

	if (!encoder_make_room(encoder, bytes))
		return false;
	number_write(encoder->memory->bytes + encoder->at, number);
	encoder->at += bytes;
	return true;
}

bool decoder_take(struct decoder *decoder, uint32_t *number)
{
	return number_read(decoder->bytes, decoder->size, &decoder->at, number);
}

static void set_header_length(struct bundle *bundle)
{
	bundle->fields[FIELD_header_length] = header_bytes(bundle);
}

bool bundle_encode(struct bundle *bundle, struct memory *memory)
{
	struct encoder encoder = {memory, 0};

	set_header_length(bundle);
	if (encoder_start(&encoder, bundle) && header_append(&encoder, bundle))
		return true;
	memory_give_back(memory);
	return false;
}

static bool has_payload(const struct decoder *decoder, const struct bundle *bundle)
{
	return decoder->at == bundle->fields[FIELD_header_length] &&
	       decoder->size - decoder->at == PAYLOAD_BYTES;
}

bool bundle_decode(const uint8_t *bytes, uint8_t size, struct bundle *bundle)
{
	struct decoder decoder = {bytes, size, 0};

	if (!header_take(&decoder, bundle) || !has_payload(&decoder, bundle))
		return false;
	memcpy(bundle->payload, bytes + decoder.at, PAYLOAD_BYTES);
	return true;
}
