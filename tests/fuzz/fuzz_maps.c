/* Any bytes as a maps file. What was kept must be in order. */
#include <stdlib.h>

#include "postproc/sources/maps.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct post_problems problems = {0};
	struct post_maps maps;

	post_maps_parse((const char *)data, size, "fuzz", &maps, &problems);
	for (size_t i = 0; i < maps.count; i++) {
		if (maps.items[i].start >= maps.items[i].end ||
		    (i && maps.items[i - 1].start > maps.items[i].start))
			abort();
	}
	post_maps_release(&maps);
	return 0;
}
