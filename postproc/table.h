/* The one hash table of the post-processor: from four 32-bit numbers to one.
 * It backs the numbering of functions, calls and edges. */
#ifndef LITIFUT_POSTPROC_TABLE_H
#define LITIFUT_POSTPROC_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define POST_NONE UINT32_MAX /* "no number", in every table here */

struct post_key {
	uint32_t part[4];
};

struct post_slot {
	struct post_key key;
	uint32_t value; /* POST_NONE: the slot is free */
};

/* All zero is an empty table. */
struct post_table {
	struct post_slot *slots; /* owned */
	size_t capacity;         /* 0 or a power of two */
	size_t count;
};

/* The value that belongs to `key`, or POST_NONE. */
uint32_t post_table_find(const struct post_table *table, struct post_key key);

/* Adds or replaces. `value` must not be POST_NONE. Ends the program when there
 * is no memory left. */
void post_table_put(struct post_table *table, struct post_key key, uint32_t value);

void post_table_release(struct post_table *table);

/* Memory that can't be had ends the program with one line: there is nothing
 * useful that a post-processor could still do. `count` * `size` is checked. */
_Noreturn void post_out_of_memory(void);
void *post_allocate(size_t count, size_t size); /* zeroed */
void *post_reallocate(void *memory, size_t count, size_t size);
char *post_copy_text(const char *text);

/* Makes room for one more element in an array that doubles. */
#define POST_GROW(array, count, capacity)                                                          \
	do {                                                                                       \
		if ((count) == (capacity)) {                                                       \
			(capacity) = (capacity) ? (capacity)*2 : 16;                               \
			(array) = post_reallocate((array), (capacity), sizeof(*(array)));          \
		}                                                                                  \
	} while (0)

/* Makes an array of `count` elements `longer` elements long if it has no element `number`; the new
 * ones are zero. Where it is used, <string.h> is needed. */
#define POST_WIDEN(array, count, number, longer)                                                   \
	do {                                                                                       \
		if ((number) >= (count)) {                                                         \
			const size_t longer_ = (longer);                                           \
			(array) = post_reallocate((array), longer_, sizeof(*(array)));             \
			memset((array) + (count), 0, (longer_ - (count)) * sizeof(*(array)));      \
			(count) = longer_;                                                         \
		}                                                                                  \
	} while (0)

#endif
