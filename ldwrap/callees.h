/* How many functions the calls of some inputs lead to: each of them has a thunk in
 * the room that serves the calls. */
#ifndef LITIFUT_LDWRAP_CALLEES_H
#define LITIFUT_LDWRAP_CALLEES_H

#include <stdbool.h>
#include <stddef.h>

#include "ldwrap/symbols.h"

struct callees;

/* For calls from the items 0 to `items` - 1 of a command line. */
struct callees *callees_create(size_t items);
void callees_release(struct callees *callees);

/* A call from `item` to the function with this symbol, which stays the caller's. */
void callees_add(struct callees *callees, size_t item, const struct symbol *symbol);

/* Calls from `item` to `count` functions that no other item calls. */
void callees_add_local(struct callees *callees, size_t item, size_t count);

/* The functions that the items which `chosen` names (one truth value for each) call
 * together. *foreign gets how many of them are not defined. */
size_t callees_count(struct callees *callees, const bool *chosen, size_t *foreign);

#endif
