/* Sends the table in frames of a few bytes. Counting goes on meanwhile; all numbers are
 * read once, and only grow. */
#include "tracer/sink/frames/frames.h"

struct litifut_frame litifut_frame;

static __attribute__((noinline)) void litifut_frame_put(uint8_t byte)
{
	while (!litifut_putc(byte))
		;
}

static __attribute__((noinline)) void litifut_frame_byte(uint32_t byte)
{
	litifut_frame.bytes[litifut_frame.used++] = (uint8_t)byte;
}

__attribute__((noinline)) void litifut_frame_add(uint32_t number)
{
	for (; number >= 0x80; number >>= 7)
		litifut_frame_byte(number | 0x80);
	litifut_frame_byte(number);
}

__attribute__((noinline)) void litifut_frame_begin(uint32_t type)
{
	litifut_frame.used = 0;
	litifut_frame_byte(type);
	litifut_frame_byte(litifut_frame.next_sequence++);
}

/* COBS: before each run of bytes that are not 0 stands its length + 1. */
__attribute__((noinline)) void litifut_frame_end(void)
{
	uint32_t crc = 0xffff;
	unsigned at = 0;

	for (unsigned i = 0; i < litifut_frame.used; i++) {
		crc ^= (uint32_t)litifut_frame.bytes[i] << 8;
		for (unsigned bit = 0; bit < 8; bit++) {
			crc <<= 1;
			if (crc & 0x10000)
				crc ^= 0x11021;
		}
	}
	litifut_frame_byte(crc);
	litifut_frame_byte(crc >> 8);
	do {
		unsigned last = at;

		while (last < litifut_frame.used && litifut_frame.bytes[last])
			last++;
		litifut_frame_put((uint8_t)(last - at + 1));
		while (at < last)
			litifut_frame_put(litifut_frame.bytes[at++]);
	} while (at++ < litifut_frame.used);
	litifut_frame_put(0);
	litifut_frame.frames++;
}

static __attribute__((noinline)) void litifut_frame_words(uint32_t type, const volatile void *words,
							  uint32_t count)
{
	for (uint32_t i = 0; i < count;) {
		litifut_frame_begin(type);
		litifut_frame_add(i);
		while (i < count && litifut_frame_has_room(1)) {
			litifut_frame_add(type == LITIFUT_FRAME_PROFILE
						  ? ((const volatile uint16_t *)words)[i]
						  : ((const volatile uint32_t *)words)[i]);
			i++;
		}
		litifut_frame_end();
	}
}

void litifut_send(void)
{
	const uint32_t words = (uint32_t)(litifut_table_end - litifut_table);
	const uint32_t record = litifut_send_times ? LITIFUT_RECORD_TIMES : LITIFUT_RECORD_COUNT;
	const uint32_t overflow =
		litifut_overflow ? LITIFUT_OVERFLOW_ENTRIES * (record + LITIFUT_OVERFLOW_EXTRA) : 0;
	const uint32_t bins = &litifut_sample_bins ? litifut_sample_bins : 0;

	litifut_frame_put(0);
	litifut_frame_begin(LITIFUT_FRAME_HEADER);
	litifut_frame_add(LITIFUT_FRAMES_VERSION);
	litifut_frame_add(litifut_identity.flags);
	for (unsigned i = 0; i < sizeof(litifut_identity.hash); i++)
		litifut_frame_byte(litifut_identity.hash[i]);
	litifut_frame_add(words);
	litifut_frame_add(overflow);
	litifut_frame_add(bins);
	litifut_frame_add(litifut_frame.round);
	litifut_frame_end();
	litifut_frame.frames = 0;
	if (litifut_send_times)
		litifut_send_times();
	litifut_frame_words(LITIFUT_FRAME_COUNTS, litifut_table, words);
	litifut_frame_words(LITIFUT_FRAME_OVERFLOW, litifut_overflow, overflow);
	litifut_frame_words(LITIFUT_FRAME_PROFILE, litifut_profile, bins);
	litifut_frame_begin(LITIFUT_FRAME_END);
	litifut_frame_add(litifut_frame.round++);
	litifut_frame_add(litifut_frame.frames);
	litifut_frame_end();
}
