/* The object files that a link will take, found before it is made. */
#ifndef LITIFUT_LDWRAP_INPUTS_H
#define LITIFUT_LDWRAP_INPUTS_H

#include <libelf.h>
#include <stdbool.h>
#include <stddef.h>

#include "ldwrap/arguments.h"
#include "ldwrap/symbols.h"

struct input_object {
	Elf *elf;            /* NULL: the bitcode of clang, for link-time optimisation */
	size_t item;         /* of the command line, that it or its archive is named by */
	size_t bytes;        /* size of the file or member */
	const bool *dropped; /* by section: in a COMDAT group that another object brought */
	size_t section_count;
	size_t symbol_table;           /* number of its section; 0: none */
	struct symbol *const *symbols; /* by number in that table; NULL where it is local */
	size_t symbol_count;
};

typedef void inputs_visitor(void *context, const struct input_object *object);

/* Calls `visit` with each object, maybe from another thread while the walk goes on, in the
 * order in which the linker loads them:
 * those named in any case, members of archives when they define a name that is
 * wanted. All archives count as one group, which can only bring too much.
 * `symbols`, which the caller has opened, gets the names; they stay until
 * inputs_close(). A visitor may keep symbols, whose numbers and names stay as they are, but
 * nothing else of an object. All visits are over when inputs_walk() returns. What can't be read is
 * left out, and so is all but the last of several symbol tables in one object. */
struct inputs *inputs_walk(const struct arguments *arguments, struct symbols *symbols,
			   inputs_visitor *visit, void *context);

void inputs_close(struct inputs *inputs);

#endif
