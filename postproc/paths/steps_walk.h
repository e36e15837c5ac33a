/* The blocks that were executed, whether bits of branches or numbers of paths have recorded them.
 */
#ifndef LITIFUT_POSTPROC_PATHS_STEPS_WALK_H
#define LITIFUT_POSTPROC_PATHS_STEPS_WALK_H

#include "postproc/paths/steps.h"

/* Hands on the steps of all threads of a process, which has a trace: of bits as post_paths_walk()
 * does, of numbers as post_numbers_walk() does, a path after the other. `totals` are those of bits,
 * and added to. */
void post_steps_walk(struct post_session *session, const struct post_process *process,
		     struct post_path_codes *codes,
		     void (*take)(void *context, const struct post_path_step *step), void *context,
		     struct post_path_totals *totals);

#endif
