/* Numbers of 16 and 32 bits in a given byte order, at any address. Inline: they are half of
 * the time that decoding takes. */
#ifndef LITIFUT_COMMON_BYTES_H
#define LITIFUT_COMMON_BYTES_H

#include <endian.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

static inline uint16_t litifut_get16(bool big_endian, const uint8_t *bytes)
{
	uint16_t value;

	memcpy(&value, bytes, sizeof(value));
	return big_endian ? be16toh(value) : le16toh(value);
}

static inline uint32_t litifut_get32(bool big_endian, const uint8_t *bytes)
{
	uint32_t value;

	memcpy(&value, bytes, sizeof(value));
	return big_endian ? be32toh(value) : le32toh(value);
}

static inline void litifut_put16(bool big_endian, uint8_t *bytes, uint16_t value)
{
	value = big_endian ? htobe16(value) : htole16(value);
	memcpy(bytes, &value, sizeof(value));
}

static inline void litifut_put32(bool big_endian, uint8_t *bytes, uint32_t value)
{
	value = big_endian ? htobe32(value) : htole32(value);
	memcpy(bytes, &value, sizeof(value));
}

#endif
