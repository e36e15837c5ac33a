/* Between a simulated node and the air (air.c), in both directions, once a tick. */
#ifndef AIR_H
#define AIR_H

#include <stdint.h>

#define AIR_SOCKET 3
#define AIR_BYTES 32

struct air_packet {
	uint8_t length; /* of a frame that is heard, or that the node begins to send; 0: there is
			   none */
	uint8_t busy;   /* to a node: another one is sending */
	uint8_t bytes[AIR_BYTES];
};

#endif
