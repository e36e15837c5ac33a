/* Makes what a firmware sends, frame by frame, for tests. */
#ifndef LITIFUT_TESTS_FRAME_SENDER_H
#define LITIFUT_TESTS_FRAME_SENDER_H

#include <stddef.h>
#include <stdint.h>

struct frame_sender {
	uint8_t line[65536];
	size_t used;
	uint8_t frame[256];
	size_t frame_used;
	uint8_t sequence;
};

void frame_sender_begin(struct frame_sender *sender, uint8_t type);
void frame_sender_number(struct frame_sender *sender, uint32_t value);

/* Puts the frame on the line. */
void frame_sender_end(struct frame_sender *sender);

#endif
