/* Sends the table in frames of a few bytes. Counting goes on meanwhile; all numbers are
 * read once, and only grow. */
#include "tracer/sink/frames/frames.h"

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
static __attribute__((noinline)) void litifut_frame_end(void)
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
#define RECORDS_EVENTS false
#define litifut_mark_transfer(begins)

static inline bool litifut_send_events(void)
{
	return litifut_send_times();
}
#endif

enum { PART_HEADER, PART_EVENTS, PART_COUNTS, PART_OVERFLOW, PART_PROFILE, PART_END };

/* How many numbers a part with numbers has. */
static unsigned litifut_part_numbers(unsigned part)
{
	if (part == PART_PROFILE)
		return (uintptr_t)litifut_profile_bins;
	if (RECORDS_EVENTS)
		return 0;
	return part == PART_COUNTS ? (uintptr_t)litifut_table_words
				   : (uintptr_t)litifut_overflow_words;
}

static void litifut_make_header(void)
{
	litifut_frame_begin(LITIFUT_FRAME_HEADER);
	litifut_frame_add(LITIFUT_FRAMES_VERSION);
	litifut_frame_add(litifut_identity.flags);
	for (unsigned i = 0; i < sizeof(litifut_identity.hash); i++)
		litifut_frame_byte(litifut_identity.hash[i]);
	for (unsigned part = PART_COUNTS; part < PART_END; part++)
		litifut_frame_add(litifut_part_numbers(part));
	litifut_frame_add(litifut_frame.round);
}

/* False: it was the last one of the part. */
static bool litifut_make_numbers(unsigned part)
{
	const volatile uint32_t *words = part == PART_COUNTS ? litifut_table : litifut_overflow;
	const unsigned count = litifut_part_numbers(part);
	unsigned next = litifut_frame.next;

	litifut_frame_begin(part == PART_PROFILE  ? LITIFUT_FRAME_PROFILE
			    : part == PART_COUNTS ? LITIFUT_FRAME_COUNTS
						  : LITIFUT_FRAME_OVERFLOW);
	litifut_frame_add(next);
	while (next < count && litifut_frame_has_room(1)) {
		litifut_frame_add(part == PART_PROFILE
					  ? ((const volatile uint16_t *)litifut_profile)[next]
					  : words[next]);
		next++;
	}
	litifut_frame.next = (uint16_t)next;
	return next < count;
}

static bool litifut_is_empty(unsigned part)
{
	if (part == PART_EVENTS)
		return !RECORDS_EVENTS && !litifut_send_times;
	return part > PART_EVENTS && part < PART_END && !litifut_part_numbers(part);
}

static __attribute__((noinline)) void litifut_frame_make(void)
{
	unsigned part = litifut_frame.part;
	bool more = false;

	if (part == PART_HEADER) {
		litifut_make_header();
		litifut_frame.frames = 0xff;
	} else if (part == PART_END) {
		litifut_frame_begin(LITIFUT_FRAME_END);
		litifut_frame_add(litifut_frame.round++);
		litifut_frame_add(litifut_frame.frames);
	} else {
		more = part == PART_EVENTS ? litifut_send_events() : litifut_make_numbers(part);
	}
	if (!more) {
		litifut_frame.next = 0;
		do
			part++;
		while (litifut_is_empty(part));
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
	const bool begun = litifut_frame.part;

	litifut_frame.busy = true;
	if (begun) /* in interrupts: it may lack what was counted since */
		while (litifut_send_step())
			;
	litifut_mark_transfer(true);
	while (litifut_send_step())
		;
	litifut_mark_transfer(false);
	litifut_frame.busy = false;
}
