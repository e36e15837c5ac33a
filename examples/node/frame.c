/* Frames: START, then with ESCAPE before special bytes: type, sequence, node, bytes, CRC-16; END.
 * The receiver confirms each by ACK, its sequence and its own node; the sender tries again. */
#include <util/crc16.h>

#include "node.h"

#define START 0x7e
#define END 0x7f
#define ESCAPE 0x7d
#define ACK 0x06
#define FLIPPED 0x20
#define CONFIRMED 0x80
#define TRIES 5
#define HEADER_BYTES 3
#define CRC_BYTES 2

static uint16_t crc;

static void crc_begin(void)
{
	crc = 0xffff;
}

static void crc_add(uint8_t byte)
{
	crc = _crc_xmodem_update(crc, byte);
}

static bool is_special(uint8_t byte)
{
	return byte == START || byte == END || byte == ESCAPE || byte == ACK;
}

static void put_escaped(uint8_t byte)
{
	if (is_special(byte)) {
		line_put(ESCAPE);
		byte ^= FLIPPED;
	}
	line_put(byte);
}

static void put_checked(uint8_t byte)
{
	crc_add(byte);
	put_escaped(byte);
}

static void put_header(enum frame_type type, uint8_t sequence)
{
	put_checked(type);
	put_checked(sequence);
	put_checked(OWN_NODE);
}

static void put_bytes(const uint8_t *bytes, uint8_t size)
{
	while (size--)
		put_checked(*bytes++);
}

static void put_crc(void)
{
	uint16_t all = crc;

	put_escaped((uint8_t)(all >> 8));
	put_escaped((uint8_t)all);
}

static void put_frame(enum frame_type type, uint8_t sequence, const uint8_t *bytes, uint8_t size)
{
	crc_begin();
	line_put(START);
	put_header(type, sequence);
	put_bytes(bytes, size);
	put_crc();
	line_put(END);
}

static void put_ack(uint8_t sequence)
{
	line_put(ACK);
	line_put(sequence | CONFIRMED);
	line_put(OWN_NODE | CONFIRMED);
}

/* 1: a byte of the frame, 0: its end, -1: nothing came. */
static int8_t get_escaped(uint8_t *byte)
{
	if (!line_get(byte))
		return -1;
	if (*byte == END)
		return 0;
	if (*byte == ESCAPE) {
		if (!line_get(byte))
			return -1;
		*byte ^= FLIPPED;
	}
	return 1;
}

static int8_t get_checked(uint8_t *byte)
{
	int8_t more = get_escaped(byte);

	if (more == 1)
		crc_add(*byte);
	return more;
}

static bool wait_for_start(void)
{
	uint8_t byte;

	for (uint8_t seconds = 5; seconds--;) {
		line_wait();
		while (line_get(&byte))
			if (byte == START)
				return true;
	}
	return false;
}

static bool get_header(struct frame *frame)
{
	return get_checked(&frame->type) == 1 && get_checked(&frame->sequence) == 1 &&
	       get_checked(&frame->node) == 1;
}

static bool get_bytes(struct frame *frame)
{
	uint8_t byte;
	int8_t more;

	frame->used = 0;
	while ((more = get_checked(&byte)) == 1) {
		if (frame->used == FRAME_BYTES)
			return false;
		frame->bytes[frame->used++] = byte;
	}
	return !more;
}

/* The checksum of all and itself is 0. */
static bool is_whole(struct frame *frame)
{
	if (crc || frame->used < CRC_BYTES)
		return false;
	frame->used -= CRC_BYTES;
	return true;
}

/* Its confirmation has been lost. */
static bool is_repeated(const struct frame *frame)
{
	static uint8_t last = 0xff;
	bool repeated = frame->sequence == last;

	last = frame->sequence;
	return repeated;
}

/* Confirms it too. A frame whose confirmation has been lost is empty. */
static bool get_rest(struct frame *frame)
{
	crc_begin();
	if (!get_header(frame) || !get_bytes(frame) || !is_whole(frame))
		return false;
	put_ack(frame->sequence);
	neighbour_heard(frame->node);
	if (is_repeated(frame)) {
		statistics_count(REPEATED);
		frame->used = 0;
	}
	return true;
}

/* What the other node has sent while its confirmation was waited for. */
static struct frame early;

static void get_early(void)
{
	if (!early.used && !get_rest(&early))
		early.used = 0;
}

static bool wait_for_ack_byte(void)
{
	uint8_t byte;

	do {
		if (!line_get(&byte))
			return false;
		if (byte == START)
			get_early();
	} while (byte != ACK);
	return true;
}

static bool wait_for_ack(uint8_t sequence)
{
	uint8_t confirmed, node;

	if (!wait_for_ack_byte() || !line_get(&confirmed) || !line_get(&node) ||
	    confirmed != (sequence | CONFIRMED))
		return false;
	neighbour_heard(node & ~CONFIRMED);
	return true;
}

static uint8_t next_sequence(void)
{
	static uint8_t sequence;

	return sequence++ & ~CONFIRMED;
}

/* Other nodes wait for another time, so that two do not try at the same moment for ever. */
static void back_off(uint8_t tries)
{
	uint8_t byte;

	for (uint8_t i = 0; i < tries * OWN_NODE; i++)
		line_get(&byte);
}

bool link_send(enum frame_type type, const uint8_t *bytes, uint8_t size)
{
	uint8_t sequence = next_sequence();

	for (uint8_t try = 0; try < TRIES; try++) {
		if (try) {
			statistics_count(RETRIED);
			back_off(try);
		}
		put_frame(type, sequence, bytes, size);
		if (wait_for_ack(sequence))
			return true;
	}
	return false;
}

bool link_receive(struct frame *frame)
{
	if (early.used) {
		*frame = early;
		early.used = 0;
		return true;
	}
	while (wait_for_start())
		if (get_rest(frame))
			return true;
	return false;
}
