/* The parts of the sender of <litifut/frames_format.h>. It links nothing but the port, and
 * keeps its state in one struct. A round is sent a byte at a time, and each frame is made when the
 * one before it has gone, so that it can be sent in interrupts as well (background.c).
 *
 * send.c is compiled once for each kind of table or ring, and each of these once more for sending
 * in interrupts, so that a program has nothing that it does not use. */
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

/* The histogram of a program that is sampled. What else is sent as numbers stands right before it:
 * the table, and behind that the overflow table of a program that calls through pointers. */
extern HIDDEN uint16_t litifut_profile[];

/* Not addresses but numbers: of the words before litifut_profile that are sent, of its bins, and of
 * both. Weak, as they can be 0. */
extern HIDDEN char litifut_words[] __attribute__((weak));
extern HIDDEN char litifut_profile_bins[] __attribute__((weak));
extern HIDDEN char litifut_numbers[] __attribute__((weak));

/* What a frame with the header begins with, in the flash. */
extern HIDDEN const uint8_t litifut_header[LITIFUT_HEADER_BYTES];

/* A frame in the buffer is COBS(type, sequence, payload, CRC), 0. COBS adds one byte, which
 * stands before the type. */
#define FRAME_BYTES (LITIFUT_FRAME_BYTES - 2)
#define FRAME_TYPE 1
#define CRC_BYTES 2
#define NUMBER_BYTES 5

/* Bytes and numbers that fit into a register. On ARM a function would cut off those of its caller.
 */
#ifdef __AVR__
typedef uint8_t frame_byte;
#else
typedef unsigned frame_byte;
#endif

/* The frame that is made next: its type, less that of a header. No type is 1 more than a header's.
 */
#define FRAME_PART(type) ((uint8_t)((type)-LITIFUT_FRAME_HEADER))
#define FRAME_NONE 1 /* the round has ended */

/* The frame that is being made or sent, and where the round is. */
struct litifut_frame {
	uint8_t at;   /* of its next byte */
	uint8_t zero; /* of its last byte that COBS has still to write */
	uint8_t crc_low;
	uint8_t crc_high;
	uint8_t sequence;
	uint8_t first; /* sequence of the frame behind the header */
	uint8_t round;
	uint8_t part;  /* of the round, that is made next; 0: none is under way */
	uint16_t next; /* of the numbers of this part; 0 where a part begins */
	uint8_t bytes[FRAME_BYTES];
};

extern HIDDEN struct litifut_frame litifut_frame;

/* Is there room for so many more? */
static inline bool litifut_frame_has_room(const struct litifut_frame *frame, unsigned numbers)
{
	return frame->at <= FRAME_BYTES - 1 - CRC_BYTES - NUMBER_BYTES * numbers;
}

/* The port: sends one byte, or returns 0 when the line is busy. The program can bring one
 * of its own. */
int litifut_putc(uint8_t byte);

/* Of LITIFUT_COMPACT: does a little of a sending. False: there is nothing to be done now. */
int litifut_send_some(void);

/* Sends everything once. May be called at any time, by the program as well, but not by two
 * at once. */
void litifut_send(void);

#endif
