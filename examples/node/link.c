/* Frames: START, sequence, bytes with ESCAPE before special ones, CRC-16, END. The receiver
 * confirms each by ACK and its sequence; the sender tries again. */
#include "node.h"

#define START 0x7e
#define END 0x7f
#define ESCAPE 0x7d
#define ACK 0x06
#define TRIES 5

uint16_t crc16(uint16_t crc, uint8_t byte)
{
	crc ^= (uint16_t)(byte << 8);
	for (uint8_t i = 0; i < 8; i++)
		crc = crc & 0x8000 ? (uint16_t)(crc << 1 ^ 0x1021) : (uint16_t)(crc << 1);
	return crc;
}

static bool is_special(uint8_t byte)
{
	return byte == START || byte == END || byte == ESCAPE || byte == ACK;
}

static void put_escaped(uint8_t byte)
{
	if (is_special(byte)) {
		link_put(ESCAPE);
		byte ^= 0x20;
	}
	link_put(byte);
}

static void put_frame(const struct buffer *buffer, uint8_t sequence)
{
	uint16_t crc = crc16(0xffff, sequence);

	link_put(START);
	put_escaped(sequence);
	for (uint8_t i = 0; i < buffer->used; i++) {
		put_escaped(buffer->bytes[i]);
		crc = crc16(crc, buffer->bytes[i]);
	}
	put_escaped((uint8_t)(crc >> 8));
	put_escaped((uint8_t)crc);
	link_put(END);
}

static bool wait_for_ack(uint8_t sequence)
{
	uint8_t byte;

	do {
		if (!link_get(&byte))
			return false;
	} while (byte != ACK);
	return link_get(&byte) && byte == (uint8_t)(sequence | 0x80);
}

bool link_send(const struct buffer *buffer, uint8_t sequence)
{
	for (uint8_t try = 0; try < TRIES; try++) {
		put_frame(buffer, sequence);
		if (wait_for_ack(sequence))
			return true;
	}
	return false;
}

static void put_ack(uint8_t sequence)
{
	link_put(ACK);
	link_put((uint8_t)(sequence | 0x80));
}

/* 1: a byte of the frame, 0: its end, -1: nothing came. */
static int8_t get_escaped(uint8_t *byte)
{
	if (!link_get(byte))
		return -1;
	if (*byte == END)
		return 0;
	if (*byte == ESCAPE) {
		if (!link_get(byte))
			return -1;
		*byte ^= 0x20;
	}
	return 1;
}

static bool wait_for_start(void)
{
	uint8_t byte;

	for (uint8_t tries = 5; tries--;) {
		link_wait();
		while (link_get(&byte))
			if (byte == START)
				return true;
	}
	return false;
}

bool link_receive(struct buffer *buffer, uint8_t *sequence)
{
	uint16_t crc = 0xffff;
	uint8_t byte;
	int8_t more;

	if (!wait_for_start() || get_escaped(sequence) != 1)
		return false;
	crc = crc16(crc, *sequence);
	while ((more = get_escaped(&byte)) == 1) {
		crc = crc16(crc, byte);
		if (!buffer_append(buffer, byte))
			return false;
	}
	/* The checksum of all and itself is 0. */
	if (more || crc || buffer->used < 2)
		return false;
	buffer->used -= 2;
	put_ack(*sequence);
	return true;
}
