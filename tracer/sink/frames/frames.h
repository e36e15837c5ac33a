/* The parts of the sender of <litifut/frames_format.h>. It links nothing but the port, and
 * keeps its state in one struct. A round is sent a byte at a time, and each frame is made when the
 * one before it has gone, so that it can be sent in interrupts as well (background.c). */
#ifndef LITIFUT_TRACER_FRAMES_H
#define LITIFUT_TRACER_FRAMES_H

#include <litifut/frames_format.h>
#include <stdbool.h>
#include <stdint.h>

#define HIDDEN __attribute__((visibility("hidden")))

/* Made by the rewriter. */
extern HIDDEN uint32_t litifut_table[];
extern HIDDEN uint32_t litifut_table_end[];
extern HIDDEN struct litifut_identity litifut_identity;

/* Only in programs that call through pointers. */
extern HIDDEN uint32_t litifut_overflow[] __attribute__((weak));

/* Only in programs that are sampled. */
extern HIDDEN uint16_t litifut_profile[] __attribute__((weak));

/* Not addresses but numbers: how many words and bins these have. Weak, as they can be 0. */
extern HIDDEN char litifut_table_words[] __attribute__((weak));
extern HIDDEN char litifut_overflow_words[] __attribute__((weak));
extern HIDDEN char litifut_profile_bins[] __attribute__((weak));
extern HIDDEN char litifut_numbers[] __attribute__((weak)); /* all of them together */

/* Only in programs whose calls are timed: makes the frames that those have besides. False: it has
 * made the last one. litifut_frame.next is 0 when it makes the first one. */
HIDDEN bool litifut_send_times(void) __attribute__((weak));

/* A frame in the buffer is 0, COBS(type, sequence, payload, CRC), 0. COBS adds one byte, which
 * stands before the type. */
#define FRAME_COBS 1
#define FRAME_FIRST 2
#define FRAME_END (LITIFUT_FRAME_BYTES - 1)
#define CRC_BYTES 2
#define NUMBER_BYTES 5

/* The frame that is being made or sent, and where the round is. */
struct litifut_frame {
	uint8_t at; /* of its next byte */
	uint8_t sequence;
	uint8_t frames; /* since the header, modulo 256 */
	uint8_t round;
	uint8_t part;          /* of the round, that is made next; 0: none is under way */
	volatile uint8_t busy; /* interrupts must leave it alone */
	uint16_t next;         /* of the numbers of this part; 0 where a part begins */
	uint8_t bytes[LITIFUT_FRAME_BYTES];
};

extern HIDDEN struct litifut_frame litifut_frame;

HIDDEN void litifut_frame_begin(unsigned type);
HIDDEN void litifut_frame_add(uint32_t number);

/* Is there room for so many more? */
static inline bool litifut_frame_has_room(unsigned numbers)
{
	return litifut_frame.at + NUMBER_BYTES * numbers <= FRAME_END - CRC_BYTES;
}

/* Sends a byte of a round, if the line takes it. False: that was the last one. */
HIDDEN bool litifut_send_step(void);

/* The port: sends one byte, or returns 0 when the line is busy. The program can bring one
 * of its own. */
int litifut_putc(uint8_t byte);

/* Sends everything once. May be called at any time, by the program as well, but not by two
 * at once. */
void litifut_send(void);

#endif
