#include "common/serial_frames.h"

#include <stdbool.h>
#include <string.h>

/* Type, sequence and CRC. */
#define LEAST_BYTES 4

static uint16_t crc_of(const uint8_t *bytes, size_t size)
{
	uint16_t crc = 0xffff;

	for (size_t i = 0; i < size; i++) {
		crc ^= (uint16_t)(bytes[i] << 8);
		for (unsigned bit = 0; bit < 8; bit++)
			crc = (uint16_t)(crc & 0x8000 ? crc << 1 ^ 0x1021 : crc << 1);
	}
	return crc;
}

/* Puts the zeros back into a piece that has none. Returns the number of bytes; 0: this is not
 * COBS. */
static size_t decode(const uint8_t *piece, size_t size, uint8_t *out)
{
	size_t used = 0;

	for (size_t at = 0; at < size;) {
		size_t run = piece[at];

		if (run > size - at)
			return 0;
		memcpy(out + used, piece + at + 1, run - 1);
		used += run - 1;
		at += run;
		if (at < size)
			out[used++] = 0;
	}
	return used;
}

/* Undoes COBS into `bytes` and checks the CRC. Returns the number of bytes without it; 0: this
 * is not a frame. */
static size_t read_frame(const uint8_t *piece, size_t size, uint8_t *bytes)
{
	size_t used = size < LITIFUT_FRAME_BYTES ? decode(piece, size, bytes) : 0;

	return used >= LEAST_BYTES &&
			       crc_of(bytes, used - 2) == (bytes[used - 2] | bytes[used - 1] << 8)
		       ? used - 2
		       : 0;
}

static void other(const struct litifut_serial *frames, size_t size)
{
	if (size && frames->sink.other)
		frames->sink.other(frames->sink.context, frames->held, size);
}

/* A zero byte has come: the longest end of what is held that is a frame is one. Text before
 * it can have anything in it, but the CRC shows whether it is one. */
static void end_piece(struct litifut_serial *frames)
{
	size_t start = frames->used > LITIFUT_FRAME_BYTES ? frames->used - LITIFUT_FRAME_BYTES : 0;

	for (; start + LEAST_BYTES < frames->used; start++) {
		uint8_t bytes[LITIFUT_FRAME_BYTES];
		size_t used = read_frame(frames->held + start, frames->used - start, bytes);

		if (!used)
			continue;
		other(frames, start);
		frames->sink.frame(frames->sink.context, bytes[0], bytes[1], bytes + 2, used - 2);
		frames->used = 0;
		return;
	}
	other(frames, frames->used);
	frames->used = 0;
}

void litifut_serial_begin(struct litifut_serial *frames, const struct litifut_serial_sink *sink)
{
	frames->sink = *sink;
	frames->used = 0;
}

void litifut_serial_feed(struct litifut_serial *frames, const uint8_t *bytes, size_t size)
{
	for (size_t i = 0; i < size; i++) {
		if (!bytes[i]) {
			end_piece(frames);
			continue;
		}
		if (frames->used == sizeof(frames->held)) {
			size_t kept = LITIFUT_FRAME_BYTES;

			other(frames, frames->used - kept);
			memmove(frames->held, frames->held + frames->used - kept, kept);
			frames->used = kept;
		}
		frames->held[frames->used++] = bytes[i];
	}
}

void litifut_serial_end(struct litifut_serial *frames)
{
	other(frames, frames->used);
	frames->used = 0;
}

uint64_t litifut_serial_long(const uint8_t *payload, size_t size, size_t *at)
{
	uint64_t number = 0;

	for (unsigned shift = 0; *at < size && shift < 70; shift += 7) {
		uint8_t byte = payload[(*at)++];

		if (shift == 63 && byte & 0xfe)
			break;
		number |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return number;
	}
	*at = size + 1;
	return 0;
}

uint32_t litifut_serial_number(const uint8_t *payload, size_t size, size_t *at)
{
	const uint64_t number = litifut_serial_long(payload, size, at);

	if (number <= UINT32_MAX)
		return (uint32_t)number;
	*at = size + 1;
	return 0;
}
