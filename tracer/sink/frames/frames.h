/* The parts of the sender of <litifut/frames_format.h>. It links nothing but the port, and
 * keeps its state on the stack and in one struct. */
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
extern HIDDEN const uint32_t litifut_sample_bins __attribute__((weak));

/* Only in programs whose calls are timed: sends the frames that those have besides. */
HIDDEN void litifut_send_times(void) __attribute__((weak));

/* What sends frames, for the parts of the sender. Type, sequence, payload, CRC; then COBS adds
 * one byte, and there are two zeros. */
#define CONTENT_BYTES (LITIFUT_FRAME_BYTES - 3)
#define CRC_BYTES 2
#define NUMBER_BYTES 5

/* The frame that is being made. */
struct litifut_frame {
	uint8_t used;
	uint8_t round;
	uint8_t next_sequence;
	uint8_t frames; /* since the header, modulo 256 */
	uint8_t bytes[CONTENT_BYTES];
};

extern HIDDEN struct litifut_frame litifut_frame;

HIDDEN void litifut_frame_begin(unsigned type);
HIDDEN void litifut_frame_add(uint32_t number);
HIDDEN void litifut_frame_end(void);

/* Is there room for so many more? */
static inline bool litifut_frame_has_room(unsigned numbers)
{
	return litifut_frame.used + NUMBER_BYTES * numbers <= CONTENT_BYTES - CRC_BYTES;
}

/* The port: sends one byte, or returns 0 when the line is busy. The program can bring one
 * of its own. */
int litifut_putc(uint8_t byte);

/* Sends everything once. May be called at any time, by the program as well, but not by two
 * at once. */
void litifut_send(void);

#endif
