/* Checksums of frames and records: CRC-16 of the polynomial 0x1021, half a byte at a time. */
#include "system.h"

static const uint16_t steps[16] = {
	0x0000, 0x1021, 0x2042, 0x3063, 0x4084, 0x50a5, 0x60c6, 0x70e7,
	0x8108, 0x9129, 0xa14a, 0xb16b, 0xc18c, 0xd1ad, 0xe1ce, 0xf1ef,
};

uint16_t crc_of(const uint8_t *bytes, unsigned count, uint16_t from)
{
	uint16_t crc = from;

	for (unsigned i = 0; i < count; i++) {
		crc = (uint16_t)(crc << 4 ^ steps[(crc >> 12 ^ bytes[i] >> 4) & 15]);
		crc = (uint16_t)(crc << 4 ^ steps[(crc >> 12 ^ bytes[i]) & 15]);
	}
	return crc;
}

uint16_t crc_of_frame(const struct frame *frame)
{
	const uint8_t head[] = {frame->kind, frame->from, frame->to, frame->sequence,
				frame->length};

	return crc_of(frame->bytes, frame->length, crc_of(head, sizeof(head), 0xffff));
}
