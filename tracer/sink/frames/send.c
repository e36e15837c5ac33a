/* Sends the table in frames of a few bytes. Counting goes on meanwhile; all numbers are
 * read once, and only grow. */
#include "tracer/sink/frames/frames.h"

#include <stddef.h>

#ifdef LITIFUT_BACKGROUND
#include "tracer/sink/frames/background.h"
#define STEP_SCOPE
#elif defined(LITIFUT_PACKED) /* it is called from two places */
#define STEP_SCOPE static
#else
#define STEP_SCOPE static inline
#endif

struct litifut_frame litifut_frame;

/* On AVR code by an address in a register is half as long as by one in the instruction. */
static inline struct litifut_frame *litifut_frame_at(void)
{
	struct litifut_frame *frame = &litifut_frame;

#ifdef __AVR__
	__asm__("" : "+b"(frame));
#endif
	return frame;
}

/* Adds a byte, and carries on the CRC with eight steps at a time, and COBS: in the place of a 0
 * stands how far away the next one is. */
static __attribute__((noinline)) void litifut_frame_byte(frame_byte value)
{
	struct litifut_frame *frame = litifut_frame_at();
	const uint8_t byte = (uint8_t)value;
	frame_byte at = frame->at;

	frame->bytes[at] = byte;
	frame->at = (uint8_t)(at + 1);
	if (!byte) {
		const frame_byte zero = frame->zero;

		frame->zero = (uint8_t)at;
		at = (frame_byte)(at - zero);
		__asm__("" : "+r"(at));
		frame->bytes[zero] = (uint8_t)at;
	}
	/* else more is kept in registers at once than a call may change */
	__asm__("" ::: "memory");
	uint8_t next = frame->crc_high ^ byte;

	next ^= next >> 4;
	const uint8_t left = (uint8_t)(next << 4);

	frame->crc_high = (uint8_t)(frame->crc_low ^ next >> 3 ^ left);
	frame->crc_low = next ^ (uint8_t)(left << 1);
}

/* Numbers that are no larger than an address are `unsigned`, which has 16 bits on AVR. */
static __attribute__((noinline)) void litifut_frame_add(uint32_t number)
{
	do {
		frame_byte byte = (frame_byte)number;

		number >>= 7;
		if (number)
			byte |= 0x80;
		litifut_frame_byte(byte);
		/* else the call is there twice */
		__asm__("" : "+r"(number));
	} while (number);
}

static void litifut_frame_begin(struct litifut_frame *frame, frame_byte part)
{
	frame->zero = 0;
	frame->at = FRAME_TYPE;
	frame->crc_low = frame->crc_high = 0xff;
	litifut_frame_byte((frame_byte)(part + LITIFUT_FRAME_HEADER));
	litifut_frame_byte(frame->sequence++);
}

/* `part': the frame that is made next. */
static void litifut_frame_end(struct litifut_frame *frame, frame_byte part)
{
	frame->part = (uint8_t)part;
	part = frame->crc_high;
	litifut_frame_byte(frame->crc_low);
	litifut_frame_byte(part);
	litifut_frame_byte(0);
	frame->at = 0;
}

/* What a program records in place of a table, or besides it: the frames that those make. */
static inline frame_byte litifut_after_others(void)
{
	return litifut_numbers ? FRAME_PART(LITIFUT_FRAME_COUNTS) : FRAME_PART(LITIFUT_FRAME_END);
}

#ifdef LITIFUT_SPANS
#include "tracer/sink/spans/spans.h"
#elif defined(LITIFUT_PACKED)
#include "tracer/sink/paths/packed.h"
#elif defined(LITIFUT_PATHS)
#include "tracer/sink/paths/branches.h"
#else
#define litifut_mark_transfer(begins)
#ifdef LITIFUT_TIMES
#include "tracer/sink/frames/times.h"
#else
#define FIRST_PART FRAME_PART(LITIFUT_FRAME_COUNTS)
#endif
#endif

static inline frame_byte litifut_header_byte(frame_byte at)
{
#ifdef __AVR__
	uint8_t byte;
#ifdef __AVR_HAVE_ELPM__
	__asm__("ldi r30, lo8(litifut_header)\n\t"
		"ldi r31, hi8(litifut_header)\n\t"
		"ldi %0, hh8(litifut_header)\n\t"
		"add r30, %1\n\t"
		"adc r31, r1\n\t"
		"adc %0, r1\n\t"
		"out 0x3b, %0\n\t"
		"elpm %0, Z"
		: "=&d"(byte)
		: "r"(at)
		: "r30", "r31");
#else
	__asm__("lpm %0, Z" : "=r"(byte) : "z"(litifut_header + at));
#endif
	return byte;
#else
	return litifut_header[at];
#endif
}

static inline frame_byte litifut_make_header(struct litifut_frame *frame)
{
	frame->first = frame->sequence;
	for (frame_byte i = 0; i < LITIFUT_HEADER_BYTES; i++)
		litifut_frame_byte(litifut_header_byte(i));
	litifut_frame_add(frame->round);
	return FIRST_PART;
}

static inline uint32_t litifut_number_at(unsigned number)
{
	const int at = (int)(number - (unsigned)(uintptr_t)litifut_words);
	const uintptr_t offset = sizeof(uint16_t) * (uintptr_t)at;
	uintptr_t address = (uintptr_t)litifut_profile + offset;

	if (at >= 0)
		return *(const uint16_t *)address;
	address += offset;
	return *(const volatile uint32_t *)address;
}

#ifdef LITIFUT_CARRIES
#include "carries.h"
#else
#define NUMBERS_OF_ONE 1
#define litifut_frame_add_number(number) litifut_frame_add(litifut_number_at(number))
#endif

static inline frame_byte litifut_make_numbers(struct litifut_frame *frame)
{
	unsigned next = frame->next;
	frame_byte part = FRAME_PART(LITIFUT_FRAME_COUNTS);

	litifut_frame_add(next);
	do {
		litifut_frame_add_number(next);
		if (++next == (unsigned)(uintptr_t)litifut_numbers) {
			next = 0;
			part = FRAME_PART(LITIFUT_FRAME_END);
			break;
		}
	} while (litifut_frame_has_room(frame, NUMBERS_OF_ONE));
	frame->next = (uint16_t)next;
	return part;
}

static inline frame_byte litifut_make_end(struct litifut_frame *frame)
{
	litifut_frame_add(frame->round++);
	litifut_frame_add((uint8_t)(frame->sequence - frame->first - 1));
	return FRAME_NONE;
}

static void litifut_frame_make(struct litifut_frame *frame, frame_byte part)
{
	litifut_frame_begin(frame, part);
	if (!part)
		part = litifut_make_header(frame);
	else if (part == FRAME_PART(LITIFUT_FRAME_COUNTS))
		part = litifut_make_numbers(frame);
#ifdef litifut_make_others
	else if (part != FRAME_PART(LITIFUT_FRAME_END))
		part = litifut_make_others(part);
#endif
	else
		part = litifut_make_end(frame);
	litifut_frame_end(frame, part);
}

/* Sends a byte of a round, if the line takes it. False: that was the last one. A round begins with
 * the last 0 of the one before, which ends other text on the line. */
STEP_SCOPE bool litifut_send_step(void)
{
	struct litifut_frame *frame = litifut_frame_at();

#ifdef LITIFUT_PACKED
	if (litifut_packed.phase)
		return litifut_packed_step(frame);
#endif
	const uint8_t byte = frame->bytes[frame->at];

	if (!litifut_putc(byte))
		return true;
	if (byte) {
		frame->at++;
		return true;
	}
	const uint8_t part = frame->part;

	if (part == FRAME_NONE) {
		frame->part = 0;
		return false;
	}
#ifdef LITIFUT_PACKED
	if (part == FRAME_PART(LITIFUT_FRAME_PACKED)) {
		litifut_packed.phase = PACKED_WAITS;
		return true;
	}
#endif
	litifut_frame_make(frame, part);
	return true;
}

#ifdef LITIFUT_BACKGROUND
volatile bool litifut_send_busy;

/* An interrupt may begin a round until `busy` is set, so `part` is read after that. What is under
 * way may lack what was counted since it began. */
static inline void litifut_send_hold(void)
{
	litifut_send_busy = true;
	if (((const volatile struct litifut_frame *)&litifut_frame)->part)
		while (litifut_send_step())
			;
}
#define litifut_send_let() (litifut_send_busy = false)
#else
#define litifut_send_hold()
#define litifut_send_let()
#endif

#ifdef LITIFUT_PACKED
int litifut_send_some(void)
{
#ifdef LITIFUT_BACKGROUND
	if (litifut_send_busy)
		return true;
	litifut_send_busy = true;
#endif
	const bool more = litifut_send_step();

	litifut_send_let();
	return more;
}
#endif

void litifut_send(void)
{
	litifut_send_hold();
	litifut_mark_transfer(true);
	while (litifut_send_step())
		;
	litifut_mark_transfer(false);
	litifut_send_let();
}
