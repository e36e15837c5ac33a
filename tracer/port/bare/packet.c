/* A whole frame at a time goes to a function of the program, which sends it as a packet by radio,
 * SPI, I2C or USB. A frame ends with its only 0. */
#include <litifut/firmware.h>

#include "tracer/sink/frames/frames.h"

static uint8_t litifut_packet_bytes[LITIFUT_FRAME_BYTES];
static uint8_t litifut_packet_used;

int litifut_putc(uint8_t byte)
{
	if (byte) {
		litifut_packet_bytes[litifut_packet_used++] = byte;
		return 1;
	}
	litifut_packet_bytes[litifut_packet_used] = 0;
	/* before a header there is a 0 for lines that have text as well */
	if (litifut_packet_used && !litifut_packet(litifut_packet_bytes, litifut_packet_used + 1u))
		return 0;
	litifut_packet_used = 0;
	return 1;
}
