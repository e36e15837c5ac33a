/* A radix sort from the lowest digit up: comparisons that miss the branch
 * prediction are what takes most of the time of qsort. */
#include "rewriter/sort.h"

#include <stdlib.h>
#include <string.h>

#define DIGIT_BITS 11
#define DIGITS (1u << DIGIT_BITS)

static void sort_by_digit(const struct litifut_sort_item *from, struct litifut_sort_item *to,
			  size_t count, unsigned shift)
{
	size_t places[DIGITS] = {0};
	size_t place = 0;

	for (size_t i = 0; i < count; i++)
		places[from[i].key >> shift & (DIGITS - 1)]++;
	for (size_t i = 0; i < DIGITS; i++) {
		size_t here = places[i];

		places[i] = place;
		place += here;
	}
	for (size_t i = 0; i < count; i++)
		to[places[from[i].key >> shift & (DIGITS - 1)]++] = from[i];
}

enum litifut_status litifut_sort(struct litifut_sort_item *items, size_t count, unsigned bits,
				 struct litifut_error *error)
{
	struct litifut_sort_item *other = malloc((count + 1) * sizeof(*other));
	struct litifut_sort_item *from = items;
	struct litifut_sort_item *to = other;

	if (!other)
		return litifut_error_set(error, LITIFUT_ERROR_IO, NULL, NULL, LITIFUT_NO_ADDRESS,
					 "out of memory");
	for (unsigned shift = 0; shift < bits; shift += DIGIT_BITS) {
		struct litifut_sort_item *sorted = to;

		sort_by_digit(from, to, count, shift);
		to = from;
		from = sorted;
	}
	if (from != items)
		memcpy(items, from, count * sizeof(*items));
	free(other);
	return LITIFUT_OK;
}
