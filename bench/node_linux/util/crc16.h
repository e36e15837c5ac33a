/* In the place of avr-libc's: the one function of it that examples/node uses. */
#ifndef NODE_LINUX_UTIL_CRC16_H
#define NODE_LINUX_UTIL_CRC16_H

#include <stdint.h>

static inline uint16_t _crc_xmodem_update(uint16_t crc, uint8_t byte)
{
	crc ^= (uint16_t)(byte << 8);
	for (unsigned bit = 0; bit < 8; bit++)
		crc = (uint16_t)(crc & 0x8000 ? crc << 1 ^ 0x1021 : crc << 1);
	return crc;
}

#endif
