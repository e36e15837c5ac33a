#include "postproc/paths/compress.h"

#include <stdlib.h>

#include "postproc/table.h"

#define FIRST_FREE 256u
#define MOST_CODES 65536u

uint64_t path_lzw_bytes(const uint16_t *entries, size_t count)
{
	struct post_table codes = {0};
	uint32_t next = FIRST_FREE, prefix = POST_NONE;
	uint64_t bits = 0;
	unsigned width = 9;

	for (size_t i = 0; i < 2 * count; i++) {
		const uint8_t byte = (uint8_t)(entries[i / 2] >> (i % 2 ? 8 : 0));
		const struct post_key key = {{prefix, byte, 0, 0}};
		const uint32_t longer = prefix == POST_NONE ? byte : post_table_find(&codes, key);

		if (longer != POST_NONE) {
			prefix = longer;
			continue;
		}
		bits += width;
		if (next < MOST_CODES) {
			post_table_put(&codes, key, next++);
			while (width < 16 && next > 1u << width)
				width++;
		}
		prefix = byte;
	}
	post_table_release(&codes);
	return (bits + (prefix == POST_NONE ? 0 : width) + 7) / 8;
}
