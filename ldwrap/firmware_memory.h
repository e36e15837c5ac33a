/* The memory of a firmware, as the map file of its link shows it. */
#ifndef LITIFUT_LDWRAP_FIRMWARE_MEMORY_H
#define LITIFUT_LDWRAP_FIRMWARE_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

/* A region of the script's MEMORY. */
struct firmware_region {
	char name[128];
	unsigned long long origin, length; /* bytes */
};

/* The region that has this address. False: none has. */
bool firmware_memory_region(const char *map, uint32_t address, struct firmware_region *region);

/* How many bytes of the region of .bss are behind all sections, where heap and stacks mostly are.
 * 0: none, or it can't be said. */
uint32_t firmware_memory_left(const char *image, const char *map);

#endif
