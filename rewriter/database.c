#include "rewriter/database.h"

#include <litifut/module_format.h>
#include <stdlib.h>

#include "common/memory.h"
#include "rewriter/sort.h"

static void put_header(bool big_endian, uint8_t *bytes, size_t count, size_t capacity)
{
	litifut_put32(big_endian, bytes, LITIFUT_DB_MAGIC);
	litifut_put32(big_endian, bytes + 4, LITIFUT_MODULE_VERSION);
	litifut_put32(big_endian, bytes + 8, (uint32_t)count);
	litifut_put32(big_endian, bytes + 12, (uint32_t)capacity);
}

/* The keys of tail calls do not come in the order of the sites. */
enum litifut_status litifut_database_finish(const struct litifut_image *image, uint8_t *bytes,
					    size_t count, size_t capacity,
					    struct litifut_error *error)
{
	const bool big_endian = image->big_endian;
	const size_t size = sizeof(struct litifut_db_entry);
	uint8_t *entries = bytes + sizeof(struct litifut_db_header);
	struct litifut_sort_item *items = litifut_memory_array(count + 1, sizeof(*items));
	enum litifut_status status;

	if (!items)
		return litifut_error_set(error, LITIFUT_ERROR_IO, image->path, LITIFUT_SECTION_DB,
					 LITIFUT_NO_ADDRESS, "out of memory");
	for (size_t i = 0; i < count; i++) {
		items[i].key = litifut_get32(big_endian, entries + i * size);
		items[i].value = litifut_get32(big_endian, entries + i * size + 4);
	}
	status = litifut_sort(items, count, 32, error);
	for (size_t i = 0; i < count && !status; i++) {
		litifut_put32(big_endian, entries + i * size, (uint32_t)items[i].key);
		litifut_put32(big_endian, entries + i * size + 4, (uint32_t)items[i].value);
	}
	free(items);
	put_header(big_endian, bytes, count, capacity);
	return status;
}
