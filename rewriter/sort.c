/* Two sorts: a radix sort from the lowest digit up, as comparisons that miss the branch
 * prediction are what takes most of the time of qsort; and a merge sort that takes what is
 * in order by now as it is. */
#include "rewriter/sort.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "common/memory.h"

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
	struct litifut_sort_item *other = litifut_memory_array(count + 1, sizeof(*other));
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

/* Where the run that begins at `first` ends: the next item is a lesser one. */
static size_t run_end(const uint8_t *items, size_t first, size_t count, size_t size,
		      int (*compare)(const void *left, const void *right))
{
	size_t end = first + 1;

	while (end < count && compare(items + (end - 1) * size, items + end * size) <= 0)
		end++;
	return end < count ? end : count;
}

/* Merges two neighbouring runs, [first, middle) and [middle, end). */
static void merge(const uint8_t *from, uint8_t *to, size_t first, size_t middle, size_t end,
		  size_t size, int (*compare)(const void *left, const void *right))
{
	size_t left = first;
	size_t right = middle;

	for (size_t at = first; at < end; at++) {
		bool take_left =
			left < middle &&
			(right == end || compare(from + left * size, from + right * size) <= 0);
		size_t taken = take_left ? left++ : right++;

		memcpy(to + at * size, from + taken * size, size);
	}
}

/* Sorts by merging neighbouring runs until there is one. `other` has as much room. */
static void merge_all(uint8_t *items, uint8_t *other, size_t count, size_t size,
		      int (*compare)(const void *left, const void *right))
{
	uint8_t *from = items;
	uint8_t *to = other;

	while (run_end(from, 0, count, size, compare) < count) {
		uint8_t *sorted = to;

		for (size_t first = 0; first < count;) {
			size_t middle = run_end(from, first, count, size, compare);
			size_t end = middle < count ? run_end(from, middle, count, size, compare)
						    : count;

			merge(from, to, first, middle, end, size, compare);
			first = end;
		}
		to = from;
		from = sorted;
	}
	if (from != items)
		memcpy(items, from, count * size);
}

/* How many of the `count` sorted items come before `item`: those that are less, or
 * (`equal`) not greater. Looked for from the end, where it is mostly near. */
static size_t count_before(const uint8_t *items, size_t count, const uint8_t *item, bool equal,
			   size_t size, int (*compare)(const void *left, const void *right))
{
	size_t low = 0;
	size_t high = count;

	for (size_t step = 1; step <= high; step *= 2)
		if (compare(items + (count - step) * size, item) < (equal ? 1 : 0)) {
			low = count - step + 1;
			break;
		} else {
			high = count - step;
		}
	while (low < high) {
		size_t middle = (low + high) / 2;

		if (compare(items + middle * size, item) < (equal ? 1 : 0))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Puts `added` sorted items among the first `count`, which are sorted; there is room for
 * them behind. Of equal ones the added stand first, or (`last`) last. */
static void put_among(uint8_t *items, size_t count, const uint8_t *from, size_t added, bool last,
		      size_t size, int (*compare)(const void *left, const void *right))
{
	while (added) {
		const uint8_t *item = from + (added - 1) * size;
		size_t before = count_before(items, count, item, last, size, compare);

		memmove(items + (before + added) * size, items + before * size,
			(count - before) * size);
		count = before;
		added--;
		memcpy(items + (count + added) * size, item, size);
	}
}

enum litifut_status litifut_sort_runs(void *items, size_t count, size_t size,
				      int (*compare)(const void *left, const void *right),
				      struct litifut_error *error)
{
	uint8_t *bytes = items;
	uint8_t *other;
	size_t start = 0; /* of the longest run */
	size_t end = 0;
	size_t behind;

	for (size_t first = 0; first < count;) {
		size_t next = run_end(bytes, first, count, size, compare);

		if (next - first > end - start) {
			start = first;
			end = next;
		}
		first = next;
	}
	if (end - start == count)
		return LITIFUT_OK;
	other = litifut_memory_array(2 * (count - (end - start)), size);
	if (!other)
		return litifut_error_set(error, LITIFUT_ERROR_IO, NULL, NULL, LITIFUT_NO_ADDRESS,
					 "out of memory");
	/* Mostly there is one that is nearly all. It stays, and what stands before it and
	 * behind it is sorted apart. */
	behind = count - end;
	memcpy(other, bytes, start * size);
	memcpy(other + start * size, bytes + end * size, behind * size);
	memmove(bytes, bytes + start * size, (end - start) * size);
	merge_all(other, other + (start + behind) * size, start, size, compare);
	merge_all(other + start * size, other + (start + behind) * size, behind, size, compare);
	put_among(bytes, end - start, other, start, false, size, compare);
	put_among(bytes, end, other + start * size, behind, true, size, compare);
	free(other);
	return LITIFUT_OK;
}
