/* Numbers out of bytes, in either byte order. */
#ifndef LITIFUT_POSTPROC_ENERGY_BYTES_H
#define LITIFUT_POSTPROC_ENERGY_BYTES_H

#include <endian.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

static inline uint64_t energy_bytes_integer(const uint8_t *bytes, unsigned size, bool big)
{
	uint64_t value = 0;

	if (size == 4) { /* as most are, of which there can be many */
		uint32_t four;
		memcpy(&four, bytes, sizeof(four));
		return big ? be32toh(four) : le32toh(four);
	}
	for (unsigned i = 0; i < size; i++)
		value |= (uint64_t)bytes[big ? size - 1 - i : i] << (8 * i);
	return value;
}

static inline float energy_bytes_float(const uint8_t *bytes, bool big)
{
	uint32_t bits = (uint32_t)energy_bytes_integer(bytes, 4, big);
	float value;

	memcpy(&value, &bits, sizeof(value));
	return value;
}

static inline double energy_bytes_double(const uint8_t *bytes)
{
	uint64_t bits = energy_bytes_integer(bytes, 8, false);
	double value;

	memcpy(&value, &bits, sizeof(value));
	return value;
}

#endif
