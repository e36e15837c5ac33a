/* A pointer in a global variable to a structure that has a name: that of a kernel to the task that
 * runs, say. */
#ifndef LITIFUT_DWARF_NAMED_POINTER_H
#define LITIFUT_DWARF_NAMED_POINTER_H

#include <stdbool.h>
#include <stdint.h>

struct dwarf_named_pointer {
	uint32_t offset; /* from the start of the variable */
	bool has_name;   /* the structure has characters, or a pointer to some: */
	bool name_points;
	uint32_t name; /* offset from its start */
};

/* Follows the members in `path` (NULL-terminated, of arrays the first element) from the variable to
 * the pointer. The name is the first member of characters whose own name has "name" in it, in
 * whatever letters. `elf` is libelf's handle. False: there is no such variable or member, or no
 * debug information. */
bool dwarf_named_pointer_find(void *elf, const char *variable, const char *const *path,
			      struct dwarf_named_pointer *found);

#endif
