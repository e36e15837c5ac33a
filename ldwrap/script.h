/* Islands between any two pieces of code: ld.bfd is given its own built-in
 * linker script again, with the order of the code written out. */
#ifndef LITIFUT_LDWRAP_SCRIPT_H
#define LITIFUT_LDWRAP_SCRIPT_H

#include <stddef.h>
#include <stdint.h>

#include "ldwrap/arguments.h"
#include "ldwrap/linker.h"
#include "ldwrap/map.h"

struct island_layout {
	/* Objects that go first and together, NULL-terminated: the islands lead
	 * to them, and they need each other in reach. */
	const char *const *first;
	const struct map *map; /* of a link without islands */
	uint32_t interval;     /* bytes of code from one island to the next */
	const char **islands;  /* paths of the objects */
	size_t island_count;   /* how many there are; fewer may be needed */
	uint32_t reach;        /* of a branch, either way */
	/* Bytes of code between the place in `first` that branches may lead to and what stands
	 * before or behind `first`. */
	uint32_t since;
};

/* How many islands code of this size takes. */
size_t script_island_count(const struct map *map, uint32_t interval);

/* Writes to `path` the script that `linker` would use for these arguments, with
 * the files of the map in the order in which they are there and islands
 * between. Returns the number of islands in it; 0 when this linker has no such
 * script, or the command line brings its own. */
size_t script_write(const char *path, const struct island_layout *layout,
		    const struct arguments *arguments, const struct linker *linker);

#endif
