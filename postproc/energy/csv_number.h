/* Numbers of a text, decimal, with a sign for the decimals that is known. What nearly all numbers
 * of a large file are is parsed in place, as it takes most of the time of such a file. */
#ifndef LITIFUT_POSTPROC_ENERGY_CSV_NUMBER_H
#define LITIFUT_POSTPROC_ENERGY_CSV_NUMBER_H

#include <endian.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* So many digits fit into 64 bits, and so many characters make a short number. */
#define ENERGY_MOST_DIGITS 18
#define ENERGY_SHORT_NUMBER (ENERGY_MOST_DIGITS + 4)

/* Of ten, from 0 to 22: all that are exact. */
extern const double energy_powers[23];

/* Up to eight digits, of which the first one is in the lowest byte: the last one is in the highest
 * byte of the result, with zeros below the first. `count`: how many there are. */
static inline uint64_t energy_number_digits(const char *at, unsigned *count)
{
	uint64_t text;

	memcpy(&text, at, sizeof(text));
	text = le64toh(text) ^ 0x3030303030303030u;
	/* the highest bit of each byte above 9; only behind the first of them others are wrong */
	const uint64_t others = ((text + 0x7676767676767676u) | text) & 0x8080808080808080u;
	if (!others) {
		*count = 8;
		return text;
	}
	*count = (unsigned)__builtin_ctzll(others) / 8;
	return text << 1 << (63 - 8 * *count); /* of none it is 0 */
}

/* The number that eight digits are: pairs of them, fours, and all; the sums are in the upper half
 * of each product. */
static inline uint64_t energy_number_of_digits(uint64_t digits)
{
	digits = (digits * (1 + (10ull << 8))) >> 8 & 0x00ff00ff00ff00ffu;
	digits = (digits * (1 + (100ull << 16))) >> 16 & 0x0000ffff0000ffffu;
	return (digits * (1 + (10000ull << 32))) >> 32;
}

/* A number without an exponent, of less than eight digits before and behind the decimal sign, as
 * nearly all are; NULL: not such a one. There are ENERGY_SHORT_NUMBER characters at least. */
static inline __attribute__((always_inline)) const char *
energy_number_short(const char *at, char decimal, double *value)
{
	const bool negative = *at == '-';
	unsigned seen, behind = 0;
	uint64_t digits = energy_number_digits(at += negative, &seen);

	at += seen;
	if (*at == decimal && seen < 8) {
		const uint64_t fraction = energy_number_digits(++at, &behind);
		at += behind;
		if (seen + behind <= 8 && behind < 8) { /* all of them in one go */
			digits = energy_number_of_digits(digits >> 8 * behind | fraction);
		} else {
			static const uint32_t tens[] = {1,      10,      100,      1000,     10000,
							100000, 1000000, 10000000, 100000000};
			digits = energy_number_of_digits(digits) * tens[behind] +
				 energy_number_of_digits(fraction);
		}
	} else {
		digits = energy_number_of_digits(digits);
	}
	if (!(seen + behind) || seen == 8 || behind == 8 || (*at | 0x20) == 'e')
		return NULL;
	const double result = (double)(int64_t)digits / energy_powers[behind];
	*value = negative ? -result : result;
	return at;
}

/* The same of a longer one, of ENERGY_MOST_DIGITS. */
const char *energy_number_longer(const char *at, char decimal, double *value);

/* A number of text; gives where it ends, or NULL when there is none. */
const char *energy_number(const char *at, const char *end, char decimal, double *value);

/* A number with a separator before each three of its digits. NULL: it is not one. `clear`: it has a
 * decimal sign as well, so that it is seen which is which. */
const char *energy_number_grouped(const char *at, const char *end, char decimal, double *value,
				  bool *clear);

/* Is there what may be a thousands separator, where a number was taken to end? */
static inline bool energy_number_goes_on(const char *stop, const char *end)
{
	return stop && end - stop > 1 && (*stop == '.' || *stop == ',') &&
	       (unsigned)(stop[1] - '0') < 10;
}

#endif
