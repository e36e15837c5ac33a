/* What a device does at a branch so that the numbers of paths are recorded. A number is recorded as
 * soon as it is known: with the last branch of its path, not at the end of it. So nothing has to be
 * done where a function returns or a loop goes back, and nothing of a function that has decided all
 * is kept while it calls others. */
#ifndef LITIFUT_PATHS_EMISSION_H
#define LITIFUT_PATHS_EMISSION_H

#include "paths/numbering.h"

#define PATH_WHOLE_MOST 2

struct path_emission {
	uint64_t add; /* to what has been added up */
	bool ends;    /* that is the number of a path then */
	/* Paths that follow, in which nothing is decided. */
	uint64_t whole[PATH_WHOLE_MOST];
	unsigned whole_count;
	/* If a path has ended, or none was under way: another is now, and that is what has been
	 * added up. */
	bool goes_on;
	uint64_t start;
	bool too_many; /* such paths follow than `whole' has room for */
};

/* At an edge of a node with several. */
struct path_emission path_emission_of_edge(const struct path_numbers *numbers, uint32_t edge);

/* Where control comes to a node at which paths begin. */
struct path_emission path_emission_of_start(const struct path_numbers *numbers, uint32_t node);

#endif
