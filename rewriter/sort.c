/* Two sorts: a radix sort from the lowest digit up, as comparisons that miss the branch
 * prediction are what takes most of the time of qsort; and one that leaves what is in order
 * by now where it is. */
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
		return litifut_error_memory(error, NULL);
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

/* Items of any kind, and how to sort them. */
struct list {
	uint8_t *items;
	size_t size; /* of each */
	uint32_t (*key)(const void *item);
};

static uint32_t key_of(const struct list *list, size_t index)
{
	return list->key(list->items + index * list->size);
}

/* Where the run that begins at `first` ends: the next item has a lesser key. */
static size_t run_end(const struct list *list, size_t first, size_t count)
{
	size_t end = first + 1;
	uint32_t last = first < count ? key_of(list, first) : 0;

	for (; end < count; end++) {
		uint32_t key = key_of(list, end);

		if (key < last)
			break;
		last = key;
	}
	return end < count ? end : count;
}

/* Copies [first, end) to `to`, sorted. */
static enum litifut_status copy_sorted(const struct list *list, size_t first, size_t end,
				       uint8_t *to, struct litifut_error *error)
{
	const size_t size = list->size;
	struct litifut_sort_item *order = calloc(end - first + 1, sizeof(*order));
	enum litifut_status status;

	if (!order)
		return litifut_error_memory(error, NULL);
	for (size_t i = first; i < end; i++)
		order[i - first] = (struct litifut_sort_item){key_of(list, i), i};
	status = litifut_sort(order, end - first, 32, error);
	for (size_t i = 0; i < end - first && !status; i++)
		memcpy(to + i * size, list->items + order[i].value * size, size);
	free(order);
	return status;
}

/* How many of the first `count` items, which are sorted, have a lesser key, or (`equal`) one
 * that is not greater. Looked for from the end, where it is mostly near. */
static size_t count_before(const struct list *list, size_t count, uint32_t key, bool equal)
{
	size_t low = 0;
	size_t high = count;

	for (size_t step = 1; step <= high && !low; step *= 2) {
		uint32_t other = key_of(list, count - step);

		if (other < key || (equal && other == key))
			low = count - step + 1;
		else
			high = count - step;
	}
	while (low < high) {
		size_t middle = (low + high) / 2;
		uint32_t other = key_of(list, middle);

		if (other < key || (equal && other == key))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Puts `added` sorted items among the first `count`, which are sorted; there is room for
 * them behind. Of equal ones the added stand first, or (`last`) last. */
static void put_among(const struct list *list, size_t count, const uint8_t *from, size_t added,
		      bool last)
{
	const size_t size = list->size;

	for (; added; added--) {
		const uint8_t *item = from + (added - 1) * size;
		size_t before = count_before(list, count, list->key(item), last);

		memmove(list->items + (before + added) * size, list->items + before * size,
			(count - before) * size);
		memcpy(list->items + (before + added - 1) * size, item, size);
		count = before;
	}
}

enum litifut_status litifut_sort_runs(void *items, size_t count, size_t size,
				      uint32_t (*key)(const void *item),
				      struct litifut_error *error)
{
	const struct list list = {items, size, key};
	uint8_t *bytes = items;
	uint8_t *others;
	size_t start = 0; /* of the longest run */
	size_t end = 0;
	enum litifut_status status;

	for (size_t first = 0; first < count;) {
		size_t next = run_end(&list, first, count);

		if (next - first > end - start) {
			start = first;
			end = next;
		}
		first = next;
	}
	if (end - start == count)
		return LITIFUT_OK;
	others = litifut_memory_array(count - (end - start), size);
	if (!others)
		return litifut_error_memory(error, NULL);
	/* Mostly there is one that is nearly all. It stays, and what stands before it and
	 * behind it is sorted apart. */
	status = copy_sorted(&list, 0, start, others, error);
	if (!status)
		status = copy_sorted(&list, end, count, others + start * size, error);
	if (!status) {
		memmove(bytes, bytes + start * size, (end - start) * size);
		put_among(&list, end - start, others, start, false);
		put_among(&list, end, others + start * size, count - end, true);
	}
	free(others);
	return status;
}
