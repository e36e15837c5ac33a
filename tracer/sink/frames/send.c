/* Sends the table in frames of a few bytes. Counting goes on meanwhile; all numbers are
 * read once, and only grow. */
#include "tracer/sink/frames/frames.h"

struct litifut_frame litifut_frame;

static __attribute__((noinline)) void litifut_frame_put(uint8_t byte)
{
	while (!litifut_putc(byte))
		;
}

/* Numbers that are no larger than an address are `unsigned`, which has 16 bits on AVR. */
static __attribute__((noinline)) void litifut_frame_byte(unsigned byte)
{
	litifut_frame.bytes[litifut_frame.used++] = (uint8_t)byte;
}

__attribute__((noinline)) void litifut_frame_add(uint32_t number)
{
	for (; number >= 0x80; number >>= 7)
		litifut_frame_byte((unsigned)number | 0x80);
	litifut_frame_byte((unsigned)number);
}

__attribute__((noinline)) void litifut_frame_begin(unsigned type)
{
	litifut_frame.used = 0;
	litifut_frame_byte(type);
	litifut_frame_byte(litifut_frame.next_sequence++);
}

/* COBS: before each run of bytes that are not 0 stands its length + 1. */
__attribute__((noinline)) void litifut_frame_end(void)
{
	unsigned crc = 0xffff; /* above bit 15 there is anything */
	unsigned at = 0;

	for (unsigned i = 0; i < litifut_frame.used; i++) {
		crc ^= (unsigned)litifut_frame.bytes[i] << 8;
		for (uint8_t bit = 0; bit < 8; bit++)
			crc = crc & 0x8000 ? crc << 1 ^ 0x1021 : crc << 1;
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

static __attribute__((noinline)) void litifut_frame_words(unsigned type, const volatile void *words,
							  unsigned count)
{
	for (unsigned i = 0; i < count;) {
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

/* What a program records in place of a table. */
#ifdef LITIFUT_SPANS
#include "tracer/sink/spans/spans.h"
#elif defined(LITIFUT_PATHS)
#include "tracer/sink/paths/branches.h"
#else
#define RECORDS_EVENTS false
#define litifut_send_events()
#define litifut_mark_transfer(begins)
#endif

void litifut_send(void)
{
	const unsigned words = RECORDS_EVENTS ? 0 : (unsigned)(litifut_table_end - litifut_table);
	const unsigned record = litifut_send_times ? LITIFUT_RECORD_TIMES : LITIFUT_RECORD_COUNT;
	const unsigned overflow =
		litifut_overflow && !RECORDS_EVENTS
			? LITIFUT_OVERFLOW_ENTRIES * (record + LITIFUT_OVERFLOW_EXTRA)
			: 0;
	const unsigned bins = &litifut_sample_bins ? litifut_sample_bins : 0;

	litifut_mark_transfer(true);
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
	litifut_send_events();
	litifut_frame_words(LITIFUT_FRAME_COUNTS, litifut_table, words);
	litifut_frame_words(LITIFUT_FRAME_OVERFLOW, litifut_overflow, overflow);
	litifut_frame_words(LITIFUT_FRAME_PROFILE, litifut_profile, bins);
	litifut_frame_begin(LITIFUT_FRAME_END);
	litifut_frame_add(litifut_frame.round++);
	litifut_frame_add(litifut_frame.frames);
	litifut_frame_end();
	litifut_mark_transfer(false);
}
