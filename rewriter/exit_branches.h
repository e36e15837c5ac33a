/* The direct branches that lead to return points, or right behind them. Control comes there by
 * a return and by these branches: they are led past the record of the return, so that only
 * returns are recorded. */
#ifndef LITIFUT_REWRITER_EXIT_BRANCHES_H
#define LITIFUT_REWRITER_EXIT_BRANCHES_H

#include <stdint.h>

#include "common/error.h"
#include "rewriter/session.h"

/* Finds those that lead to where the session's exits are, with LITIFUT_EXIT_BYTES_MAX bytes each.
 * Release with litifut_exit_branches_release(), on failure as well. */
enum litifut_status litifut_exit_branches_find(const struct litifut_session *session,
					       struct litifut_exit_branches *branches,
					       struct litifut_error *error);

/* The first that leads to `target`, or NULL; the others follow, up to the end of the list. */
const struct litifut_exit_branch *
litifut_exit_branches_to(const struct litifut_exit_branches *branches, uint32_t target);

void litifut_exit_branches_release(struct litifut_exit_branches *branches);

#endif
