/* Sorting a million of things. */
#ifndef LITIFUT_REWRITER_SORT_H
#define LITIFUT_REWRITER_SORT_H

#include <stddef.h>
#include <stdint.h>

#include "common/error.h"

struct litifut_sort_item {
	uint64_t key;
	uint64_t value;
};

/* Sorts `items` by key; those with equal keys stay in their order. `bits`: no key
 * has more than that many. The only error is a lack of memory. */
enum litifut_status litifut_sort(struct litifut_sort_item *items, size_t count, unsigned bits,
				 struct litifut_error *error);

/* Sorts `count` items of `size` bytes, by what `key` says of each, that are nearly in order,
 * such as what was found by walking from section to section. Those with equal keys stay in
 * their order. The longer the longest run in order, the faster. The only error is a lack of
 * memory. */
enum litifut_status litifut_sort_runs(void *items, size_t count, size_t size,
				      uint32_t (*key)(const void *item),
				      struct litifut_error *error);

#endif
