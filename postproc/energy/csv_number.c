#include "postproc/energy/csv_number.h"

#include <ctype.h>
#include <math.h>

const double energy_powers[23] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
				  1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
				  1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

static double scaled(uint64_t digits, int exponent)
{
	if (exponent == 0)
		return (double)digits;
	if (exponent < 0 && exponent >= -22)
		return (double)digits / energy_powers[-exponent];
	if (exponent > 0 && exponent <= 22)
		return (double)digits * energy_powers[exponent];
	return exponent < -400 ? 0 : (double)digits * pow(10, exponent);
}

const char *energy_number_longer(const char *at, char decimal, double *value)
{
	uint64_t digits = 0;
	unsigned digit;
	const bool negative = *at == '-';

	at += negative;
	const char *start = at, *stop = at + ENERGY_MOST_DIGITS;
	for (; at < stop && (digit = (unsigned)(*at - '0')) < 10; at++)
		digits = digits * 10 + digit;
	long seen = at - start, behind = 0;
	if (*at == decimal) {
		const char *fraction = ++at;
		for (stop++; at < stop && (digit = (unsigned)(*at - '0')) < 10; at++)
			digits = digits * 10 + digit;
		behind = at - fraction;
		seen += behind;
	}
	if (!seen || (unsigned)(*at - '0') < 10 || (*at | 0x20) == 'e')
		return NULL;
	const double result = (double)digits / energy_powers[behind];
	*value = negative ? -result : result;
	return at;
}

const char *energy_number(const char *at, const char *end, char decimal, double *value)
{
	if (end - at > ENERGY_SHORT_NUMBER) {
		const char *stop = energy_number_short(at, decimal, value);
		if (!stop)
			stop = energy_number_longer(at, decimal, value);
		if (stop)
			return stop;
	}
	uint64_t digits = 0;
	int exponent = 0, seen = 0;
	bool negative = false;

	while (at < end && *at == ' ')
		at++;
	if (at < end && (*at == '-' || *at == '+'))
		negative = *at++ == '-';
	for (; at < end && (unsigned)(*at - '0') < 10; at++, seen++) {
		if (digits < UINT64_MAX / 10 - 1)
			digits = digits * 10 + (unsigned)(*at - '0');
		else if (exponent < 100000)
			exponent++;
	}
	if (at < end && *at == decimal) {
		at++;
		for (; at < end && (unsigned)(*at - '0') < 10; at++, seen++) {
			if (digits < UINT64_MAX / 10 - 1) {
				digits = digits * 10 + (unsigned)(*at - '0');
				exponent--;
			}
		}
	}
	if (!seen)
		return NULL;
	if (at + 1 < end && (*at == 'e' || *at == 'E')) {
		const char *from = at + 1;
		bool small = false;
		int by = 0;
		if (*from == '-' || *from == '+')
			small = *from++ == '-';
		if (from < end && isdigit((unsigned char)*from)) {
			for (; from < end && isdigit((unsigned char)*from); from++)
				by = by < 10000 ? by * 10 + (*from - '0') : by;
			exponent += small ? -by : by;
			at = from;
		}
	}
	double result = scaled(digits, exponent);
	*value = negative ? -result : result;
	return at;
}

const char *energy_number_grouped(const char *at, const char *end, char decimal, double *value,
				  bool *clear)
{
	const char separator = decimal == ',' ? '.' : ',';
	uint64_t digits = 0;
	unsigned seen = 0;
	int behind = 0;
	bool negative = false;

	while (at < end && *at == ' ')
		at++;
	if (at < end && (*at == '-' || *at == '+'))
		negative = *at++ == '-';
	if (at == end || *at == '0')
		return NULL;
	for (; at < end && (unsigned)(*at - '0') < 10 && seen <= 3; at++, seen++)
		digits = digits * 10 + (unsigned)(*at - '0');
	if (!seen || seen > 3 || at == end || *at != separator)
		return NULL;
	for (; at < end && *at == separator; seen += 3) {
		if (end - at < 4 || seen + 3 > ENERGY_MOST_DIGITS)
			return NULL;
		for (at++, behind = 0; behind < 3; at++, behind++) {
			if ((unsigned)(*at - '0') > 9)
				return NULL;
			digits = digits * 10 + (unsigned)(*at - '0');
		}
	}
	behind = 0;
	*clear = at < end && *at == decimal;
	if (*clear) {
		for (at++; at < end && (unsigned)(*at - '0') < 10; at++) {
			if (seen++ < ENERGY_MOST_DIGITS) {
				digits = digits * 10 + (unsigned)(*at - '0');
				behind++;
			}
		}
	}
	if ((at < end && (unsigned)(*at - '0') < 10) || energy_number_goes_on(at, end))
		return NULL;
	const double result = scaled(digits, -behind);
	*value = negative ? -result : result;
	return at;
}
