/* What is to be said of a link that went well: settings that name nothing, calls and returns that
 * are not recorded, results of a firmware that are never sent, memory that is short. */
#ifndef LITIFUT_LDWRAP_LINK_WARNINGS_H
#define LITIFUT_LDWRAP_LINK_WARNINGS_H

#include <stdbool.h>
#include <stddef.h>

#include "ldwrap/link.h"
#include "ldwrap/settings.h"

enum link_warning_kind {
	LINK_WARNING_PLAIN,
	LINK_WARNING_NOTHING, /* a setting names nothing here; it may do so in another link of the
				 build */
	LINK_WARNING_MEMORY   /* little memory is left */
};

struct link_warning {
	enum link_warning_kind kind;
	char *line; /* without the name of the output; owned by the list */
	const char
		*nearest; /* of LINK_WARNING_NOTHING: what may have been meant, or ""; not owned */
};

/* In the order in which they are printed. */
struct link_warnings {
	struct link_warning *items;
	size_t count;
};

/* Fills `list`, which link_warnings_release() empties. `shared`: a shared library was linked. The
 * texts of `settings` and `outcome` live as long as the list. */
void link_warnings_find(const struct settings *settings, const struct link_outcome *outcome,
			bool shared, struct link_warnings *list);

void link_warnings_release(struct link_warnings *list);

#endif
