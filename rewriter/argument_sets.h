/* What is recorded of the calls of an image, by LITIFUT_ARGS: see site_arguments.h. */
#ifndef LITIFUT_REWRITER_ARGUMENT_SETS_H
#define LITIFUT_REWRITER_ARGUMENT_SETS_H

#include <litifut/arguments.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What is recorded of a call, and of its return. */
struct litifut_argument_set {
	uint8_t of_call[LITIFUT_ARGUMENT_FIELDS];
	uint8_t of_return[LITIFUT_ARGUMENT_FIELDS];
};

struct litifut_argument_sets {
	struct litifut_argument_set *items; /* `arguments` of a site is the index, and 1 */
	size_t count;
	uint32_t mark_every; /* LITIFUT_MARK_EVERY, which is in the same place; 0: not set */
	uint32_t used; /* a bit for each of the first 32 specs: there are calls of such a name */
	/* The same: of one of these functions the parameters are known. Only of specs that ask for
	 * all of them. */
	uint32_t known;
	/* The first glob of a spec that had no room among the fields of a function; of the options;
	 * NULL: there is none. */
	const char *crowded;
	/* Patched calls of which nothing is recorded, as there is no room for another set. */
	size_t left;
};

/* Are arguments of this call recorded? */
static inline bool litifut_site_has_arguments(const struct litifut_argument_sets *sets,
					      unsigned arguments)
{
	return arguments && sets->items[arguments - 1].of_call[0];
}

/* Is what this call returns recorded? */
static inline bool litifut_site_has_result(const struct litifut_argument_sets *sets,
					   unsigned arguments)
{
	return arguments && sets->items[arguments - 1].of_return[0];
}

#endif
