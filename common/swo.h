/* What a debug probe gets by SWO, without the formatter of the TPIU: packets of the ITM and the DWT
 * of a Cortex-M (DDI 0403E, appendix D4). Pure code. */
#ifndef LITIFUT_COMMON_SWO_H
#define LITIFUT_COMMON_SWO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The stimulus port that LITIFUT_PORT=itm sends by. */
#define LITIFUT_SWO_PORT 1

/* All zero to start with. */
struct litifut_swo {
	uint8_t left;  /* bytes of the payload that are to come, */
	bool is_taken; /* which are the port's */
	bool goes_on;  /* a packet has bytes as long as bit 7 is set */
	uint8_t zeros; /* of a synchronisation packet, at most 5 */
};

/* Takes `size` bytes and writes those of the port to `taken`, which has room for as many; it may be
 * `bytes`. Returns their number. */
size_t litifut_swo_take(struct litifut_swo *swo, const uint8_t *bytes, size_t size, uint8_t *taken);

#endif
