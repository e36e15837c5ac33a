/* How much room a link will need, guessed from its inputs before it is made. */
#ifndef LITIFUT_LDWRAP_ESTIMATE_H
#define LITIFUT_LDWRAP_ESTIMATE_H

#include <stdbool.h>
#include <stdint.h>

#include "ldwrap/arguments.h"
#include "rewriter/rewriter.h"

struct estimated_islands {
	size_t *items; /* of the command line, before which one goes, ascending; owned */
	size_t count;
	/* Code between two inputs is so far apart that islands between them can't
	 * help: a map of the link is needed to place better ones. */
	bool too_coarse;
};

struct estimate_result {
	struct estimated_islands islands;
	uint64_t text; /* bytes of code in the inputs */
	bool newer;    /* an object is for newer CPUs only, see struct cpu_objects */
	/* Calls that link-time optimisation will make are among what was guessed, more roughly than
	 * those that can be counted. */
	bool optimised;
};

/* Adds to `plan`, which names the CPU, the call sites, DB entries, trampolines
 * and the size of islands that the code in the inputs is likely to need, with
 * `thunks` also one for each callee. A wrong
 * guess costs a second link or some unused bytes in the file, nothing else. */
struct estimate_result estimate_room(const struct arguments *arguments, bool thunks,
				     bool older_thunks, struct litifut_rewrite_plan *plan);

#endif
