/* Taking the frames of <litifut/frames_format.h> out of what a serial line has brought,
 * with other text between them and damage. Pure code. */
#ifndef LITIFUT_COMMON_SERIAL_FRAMES_H
#define LITIFUT_COMMON_SERIAL_FRAMES_H

#include <stddef.h>
#include <stdint.h>

#include <litifut/frames_format.h>

/* What the bytes turn out to be, in their order. */
struct litifut_serial_sink {
	/* A frame whose CRC is right. `payload` is only valid during the call. */
	void (*frame)(void *context, uint8_t type, uint8_t sequence, const uint8_t *payload,
		      size_t size);
	/* Bytes that belong to no such frame; may be NULL. */
	void (*other)(void *context, const uint8_t *bytes, size_t size);
	void *context;
};

#define LITIFUT_SERIAL_HELD 256

struct litifut_serial {
	struct litifut_serial_sink sink;
	/* Behind the last zero byte. */
	uint8_t held[LITIFUT_SERIAL_HELD];
	size_t used;
};

void litifut_serial_begin(struct litifut_serial *frames, const struct litifut_serial_sink *sink);
void litifut_serial_feed(struct litifut_serial *frames, const uint8_t *bytes, size_t size);
/* At the end: what is left belongs to no frame. */
void litifut_serial_end(struct litifut_serial *frames);

/* Reads the LEB128 number at payload[*at]. Returns 0 and leaves *at at `size` + 1 when it is
 * cut or longer than 32 bits. */
uint32_t litifut_serial_number(const uint8_t *payload, size_t size, size_t *at);

/* The same of 64 bits. */
uint64_t litifut_serial_long(const uint8_t *payload, size_t size, size_t *at);

#endif
