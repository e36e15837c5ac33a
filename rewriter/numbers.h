/* LITIFUT_MODE=balllarus: which numbers of paths an edge records (paths/emission.h), as calls of
 * the tracer's code. */
#ifndef LITIFUT_REWRITER_NUMBERS_H
#define LITIFUT_REWRITER_NUMBERS_H

#include <litifut/numbers_format.h>

#include "paths/emission.h"
#include "paths/graph.h"
#include "rewriter/graph.h"

struct litifut_numbers {
	struct path_graph graph;
	struct path_numbers paths;
};

/* Numbers the paths of the blocks, as `entered' of each says now. Release with
 * litifut_numbers_release(), on failure as well. False: no memory. */
bool litifut_numbers_make(const struct litifut_graph *graph, struct litifut_numbers *numbers);
void litifut_numbers_release(struct litifut_numbers *numbers);

/* Can all paths of the function of the block be recorded? Not if there are too many of them. */
bool litifut_numbers_fit(const struct litifut_numbers *numbers, size_t block);

/* A call of the tracer's code, and the words behind it. */
struct litifut_number_call {
	enum litifut_numbers_code code;
	uint32_t words[2];
	unsigned word_count;
};

struct litifut_number_calls {
	struct litifut_number_call items[PATH_WHOLE_MOST + 2];
	unsigned count;
};

/* What is recorded of a block. */
struct litifut_number_calls litifut_numbers_of(const struct litifut_numbers *numbers, size_t block,
					       enum litifut_edge_way way);

#endif
