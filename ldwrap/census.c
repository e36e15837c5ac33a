/* A census, no decoder: the masks are those of the call instructions, and an
 * error of some per cent is as good as none. The rewriter decides later. */
#include "ldwrap/census.h"

static uint32_t word_at(const uint8_t *bytes, bool big_endian)
{
	if (big_endian)
		return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 |
		       (uint32_t)bytes[2] << 8 | bytes[3];
	return (uint32_t)bytes[3] << 24 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[1] << 8 |
	       bytes[0];
}

static void count_a32(const uint8_t *bytes, size_t size, struct census *census)
{
	for (size_t at = 0; at + 4 <= size; at += 4) {
		uint32_t word = word_at(bytes + at, false);

		if ((word & 0x0f000000) == 0x0b000000 || (word & 0xfe000000) == 0xfa000000)
			census->direct++; /* bl, blx label */
		else if ((word & 0x0ffffff0) == 0x012fff30)
			census->indirect++; /* blx rN */
		else if ((word & 0x0ffffff0) == 0x012fff10 && (word & 15) != 14)
			census->tails++; /* bx rN */
	}
}

static void count_t32(const uint8_t *bytes, size_t size, struct census *census)
{
	for (size_t at = 0; at + 2 <= size; at += 2) {
		unsigned first = (unsigned)bytes[at] | (unsigned)bytes[at + 1] << 8;
		unsigned second;

		if ((first & 0xff87) == 0x4780) {
			census->indirect++; /* blx rN */
			census->cramped++;
		} else if ((first & 0xff87) == 0x4700 && first != 0x4770) {
			census->tails++; /* bx rN */
		}
		if (first < 0xe800 || at + 4 > size)
			continue;
		at += 2;
		second = (unsigned)bytes[at] | (unsigned)bytes[at + 1] << 8;
		if ((first & 0xf800) == 0xf000 && (second & 0xc000) == 0xc000)
			census->direct++; /* bl, blx label */
	}
}

static void count_mips(const uint8_t *bytes, size_t size, bool big_endian, struct census *census)
{
	for (size_t at = 0; at + 4 <= size; at += 4) {
		uint32_t word = word_at(bytes + at, big_endian);

		if ((word & 0xfc000000) == 0x0c000000 || (word & 0xffff0000) == 0x04110000)
			census->direct++; /* jal, bal */
		else if ((word & 0xfc1f003f) == 0x00000009)
			census->indirect++; /* jalr */
		else if (word == 0x03200008)
			census->tails++; /* jr $t9 */
	}
}

void census_count(const uint8_t *bytes, size_t size, unsigned code, bool big_endian,
		  struct census *census)
{
	if (code & CENSUS_A32)
		count_a32(bytes, size, census);
	if (code & CENSUS_T32)
		count_t32(bytes, size, census);
	if (code & CENSUS_MIPS)
		count_mips(bytes, size, big_endian, census);
}
