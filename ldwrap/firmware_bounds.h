/* The end of the memory where the linker does not see it: a script without MEMORY may name it by a
 * symbol (little kernel's _end_of_ram). A symbol that was behind .bss in the plain link, and that
 * .bss reaches over in the traced one as it has not moved, is such an end. */
#ifndef LITIFUT_LDWRAP_FIRMWARE_BOUNDS_H
#define LITIFUT_LDWRAP_FIRMWARE_BOUNDS_H

#include <stddef.h>
#include <stdint.h>

#include "common/error.h"

struct firmware_bound {
	char *name;
	uint32_t address;
};

/* Symbols behind .bss in the plain link. */
struct firmware_bounds {
	struct firmware_bound *items;
	size_t count;
};

/* With the image and the map file of the plain link; none if MEMORY has a region for .bss. */
void firmware_bounds_read(struct firmware_bounds *bounds, const char *image, const char *map);

/* Is one of them inside .bss of this image? */
enum litifut_status firmware_bounds_check(const struct firmware_bounds *bounds, const char *image,
					  struct litifut_error *error);

void firmware_bounds_release(struct firmware_bounds *bounds);

#endif
