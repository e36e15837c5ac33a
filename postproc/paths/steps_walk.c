#include "postproc/paths/steps_walk.h"

#include "postproc/paths/numbers.h"
#include "postproc/paths/walk.h"

void post_steps_walk(struct post_session *session, const struct post_process *process,
		     struct post_path_codes *codes,
		     void (*take)(void *context, const struct post_path_step *step), void *context,
		     struct post_path_totals *totals)
{
	if (post_numbers_are_in(session, process))
		post_numbers_walk(session, process, codes, take, context);
	else
		post_paths_walk(session, process, codes, take, context, totals);
}
