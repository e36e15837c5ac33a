#include "common/swo.h"

#define OVERFLOW 0x70
#define SYNC_ZEROS 5 /* 47 bits of 0, at least, and a 1: five bytes of 0 and 0x80 */
#define SYNC_END 0x80

/* The first byte of a packet: DDI 0403E D4.2. */
static void begin(struct litifut_swo *swo, uint8_t header)
{
	const unsigned size = header & 3;

	if (size) {
		/* bit 2: of the hardware */
		swo->left = size == 3 ? 4 : (uint8_t)size;
		swo->is_taken = !(header & 4) && header >> 3 == LITIFUT_SWO_PORT;
	} else if (header != OVERFLOW) {
		/* a time stamp or an extension, whose bit 7 says that it goes on */
		swo->goes_on = header & 0x80;
	}
}

size_t litifut_swo_take(struct litifut_swo *swo, const uint8_t *bytes, size_t size, uint8_t *taken)
{
	size_t count = 0;

	for (size_t i = 0; i < size; i++) {
		const uint8_t byte = bytes[i];

		if (swo->left) {
			swo->left--;
			if (swo->is_taken)
				taken[count++] = byte;
		} else if (swo->goes_on) {
			swo->goes_on = byte & 0x80;
		} else if (!byte) {
			swo->zeros += swo->zeros < SYNC_ZEROS;
			continue;
		} else if (byte != SYNC_END || swo->zeros < SYNC_ZEROS) {
			begin(swo, byte);
		}
		swo->zeros = 0;
	}
	return count;
}
