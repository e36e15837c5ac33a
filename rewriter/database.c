#include "rewriter/database.h"

#include <litifut/module_format.h>
#include <stdlib.h>

#include "common/memory.h"
#include "elf/sections.h"
#include "rewriter/sort.h"

/* The keys of tail calls do not come in the order of the sites. */
enum litifut_status litifut_database_finish(const struct litifut_image *image, uint8_t *bytes,
					    size_t count, size_t capacity,
					    struct litifut_error *error)
{
	const bool big_endian = image->file.big_endian;
	const size_t size = sizeof(struct litifut_db_entry);
	const struct elf_records entries = {.bytes = bytes + sizeof(struct litifut_db_header),
					    .count = (uint32_t)count,
					    .stride = (uint32_t)size,
					    .big_endian = big_endian};
	struct litifut_sort_item *items = litifut_memory_array(count + 1, sizeof(*items));
	enum litifut_status status;

	if (!items)
		return litifut_error_set(error, LITIFUT_ERROR_IO, image->path, LITIFUT_SECTION_DB,
					 LITIFUT_NO_ADDRESS, "out of memory");
	for (uint32_t i = 0; i < count; i++) {
		const struct litifut_db_entry entry = elf_read_db_entry(&entries, i);

		items[i].key = entry.return_address;
		items[i].value = entry.instruction;
	}
	status = litifut_sort(items, count, 32, error);
	for (size_t i = 0; i < count && !status; i++)
		elf_write_db_entry(big_endian, bytes + sizeof(struct litifut_db_header) + i * size,
				   (struct litifut_db_entry){(uint32_t)items[i].key,
							     (uint32_t)items[i].value});
	free(items);
	elf_write_db_header(big_endian, bytes, (uint32_t)count, (uint32_t)capacity);
	return status;
}
