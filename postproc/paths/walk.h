/* Follows the code of a program along what LITIFUT_MODE=paths has recorded of it: from bits and
 * records to the blocks that were executed, in order, for each thread. */
#ifndef LITIFUT_POSTPROC_PATHS_WALK_H
#define LITIFUT_POSTPROC_PATHS_WALK_H

#include "postproc/paths/steps.h"

/* Walks all threads of a process, in the order of their chunks. What does not fit together is
 * reported with its offset in the trace, and the walk goes on where it can begin anew. `totals` are
 * added to. */
void post_paths_walk(struct post_session *session, const struct post_process *process,
		     struct post_path_codes *codes,
		     void (*take)(void *context, const struct post_path_step *step), void *context,
		     struct post_path_totals *totals);

/* The same from chunk number `first` of trace->bits on. Each thread begins with a gap, at the first
 * word there that says where it is; from the next step on, all is as in a walk of the whole, but
 * for the calls that could not be found on the stack: where one of those returns is another gap. */
void post_paths_walk_from(struct post_session *session, const struct post_process *process,
			  size_t first, struct post_path_codes *codes,
			  void (*take)(void *context, const struct post_path_step *step),
			  void *context, struct post_path_totals *totals);

#endif
