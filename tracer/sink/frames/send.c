/* Sends the table in frames of a few bytes. Counting goes on meanwhile; all numbers are
 * read once, and only grow. */
#include "tracer/sink/frames/frames.h"

#include <stddef.h>

struct litifut_frame litifut_frame;

/* Numbers that are no larger than an address are `unsigned`, which has 16 bits on AVR. */
static __attribute__((noinline)) void litifut_frame_byte(unsigned byte)
{
	litifut_frame.bytes[litifut_frame.at++] = (uint8_t)byte;
}

__attribute__((noinline)) void litifut_frame_add(uint32_t number)
{
	for (; number >= 0x80; number >>= 7)
		litifut_frame_byte((unsigned)number | 0x80);
	litifut_frame_byte((unsigned)number);
}

__attribute__((noinline)) void litifut_frame_begin(unsigned type)
{
	litifut_frame.at = FRAME_FIRST;
	litifut_frame_byte(type);
	litifut_frame_byte(litifut_frame.sequence++);
}

/* Adds the CRC, eight steps of it at a time. Then COBS, from the end on: in the place of each 0
 * stands how far away the next one is. */
static void litifut_frame_end(void)
{
	unsigned crc = 0xffff; /* above bit 15 there is anything */
	unsigned last;

	for (unsigned i = FRAME_FIRST; i < litifut_frame.at; i++) {
		unsigned next = (uint8_t)(crc >> 8) ^ litifut_frame.bytes[i];

		next ^= next >> 4;
		crc = crc << 8 ^ next << 12 ^ next << 5 ^ next;
	}
	litifut_frame_byte(crc);
	litifut_frame_byte(crc >> 8);
	last = litifut_frame.at;
	litifut_frame.bytes[last] = 0;
	litifut_frame.bytes[FRAME_COBS] = 0;
	for (unsigned i = last; --i;) {
		if (!litifut_frame.bytes[i]) {
			litifut_frame.bytes[i] = (uint8_t)(last - i);
			last = i;
		}
	}
	litifut_frame.at = FRAME_COBS;
	litifut_frame.frames++;
}

/* What a program records in place of a table. */
#ifdef LITIFUT_SPANS
#include "tracer/sink/spans/spans.h"
#elif defined(LITIFUT_PATHS)
#include "tracer/sink/paths/branches.h"
#else
#define litifut_mark_transfer(begins)
#define litifut_send_events litifut_send_times
#endif

/* Which parts a round has: a table is always there without events, and only samples with them. */
#ifdef litifut_send_events
#define HAS_EVENTS (litifut_send_times != NULL)
#define HAS_NUMBERS true
#else
#define HAS_EVENTS true
#define HAS_NUMBERS (litifut_numbers != NULL)
#endif

enum { PART_HEADER, PART_EVENTS, PART_NUMBERS, PART_END };

/* Of the table, of the overflow table behind it, and of the histogram behind that. */
static uint32_t litifut_number_at(unsigned at)
{
	const volatile uint32_t *words = litifut_table;

	if (at >= (uintptr_t)litifut_table_words) {
		at -= (uintptr_t)litifut_table_words;
		words = litifut_overflow;
		if (at >= (uintptr_t)litifut_overflow_words)
			return ((const volatile uint16_t *)
					litifut_profile)[at - (uintptr_t)litifut_overflow_words];
	}
	return words[at];
}

static void litifut_make_header(void)
{
	litifut_frame_begin(LITIFUT_FRAME_HEADER);
	litifut_frame_add(LITIFUT_FRAMES_VERSION);
	litifut_frame_add(litifut_identity.flags);
	for (unsigned i = 0; i < sizeof(litifut_identity.hash); i++)
		litifut_frame_byte(litifut_identity.hash[i]);
	litifut_frame_add((uintptr_t)litifut_table_words);
	litifut_frame_add((uintptr_t)litifut_overflow_words);
	litifut_frame_add((uintptr_t)litifut_profile_bins);
	litifut_frame_add(litifut_frame.round);
	litifut_frame.frames = 0xff; /* itself is not counted */
}

/* False: there are no more. */
static bool litifut_make_numbers(void)
{
	unsigned next = litifut_frame.next;

	litifut_frame_begin(LITIFUT_FRAME_COUNTS);
	litifut_frame_add(next);
	while (next < (uintptr_t)litifut_numbers && litifut_frame_has_room(1))
		litifut_frame_add(litifut_number_at(next++));
	litifut_frame.next = (uint16_t)next;
	return next < (uintptr_t)litifut_numbers;
}

static void litifut_make_end(void)
{
	litifut_frame_begin(LITIFUT_FRAME_END);
	litifut_frame_add(litifut_frame.round++);
	litifut_frame_add(litifut_frame.frames);
}

static void litifut_frame_make(void)
{
	unsigned part = litifut_frame.part;
	bool more = false;

	if (part == PART_HEADER)
		litifut_make_header();
	else if (part == PART_END)
		litifut_make_end();
	else if (part == PART_NUMBERS)
		more = litifut_make_numbers();
	else
		more = litifut_send_events();
	if (!more) {
		litifut_frame.next = 0;
		if (++part == PART_EVENTS && !HAS_EVENTS)
			part++;
		if (part == PART_NUMBERS && !HAS_NUMBERS)
			part++;
		litifut_frame.part = (uint8_t)part;
	}
	litifut_frame_end();
}

/* A round begins with the 0 before the first frame, which ends other text on the line. */
bool litifut_send_step(void)
{
	if (!litifut_putc(litifut_frame.bytes[litifut_frame.at]) ||
	    litifut_frame.bytes[litifut_frame.at++])
		return true;
	if (litifut_frame.part > PART_END) {
		litifut_frame.part = 0;
		litifut_frame.at = 0;
		return false;
	}
	litifut_frame_make();
	return true;
}

void litifut_send(void)
{
	const volatile uint8_t *part = &litifut_frame.part;

	/* An interrupt may begin a round until `busy` is set, so `part` is read after that. */
	litifut_frame.busy = true;
	if (*part) /* it may lack what was counted since it began */
		while (litifut_send_step())
			;
	litifut_mark_transfer(true);
	while (litifut_send_step())
		;
	litifut_mark_transfer(false);
	litifut_frame.busy = false;
}
