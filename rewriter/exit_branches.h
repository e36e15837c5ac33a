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

/* The first that leads to the code of the return point, or NULL; and the next one to the same
 * place, or NULL. */
const struct litifut_exit_branch *
litifut_exit_branch_first(const struct litifut_exit_branches *branches,
			  const struct litifut_exit *exit);
const struct litifut_exit_branch *
litifut_exit_branch_next(const struct litifut_exit_branches *branches,
			 const struct litifut_exit_branch *branch);

/* Is any of it in the set? */
bool litifut_exit_branch_is_in(const struct litifut_targets *set,
			       const struct litifut_exit_branch *branch);

/* Writes the branch, led to `target`, to `code`, which has room for 4 bytes. False: that is out of
 * its reach. */
bool litifut_exit_branch_lead(const struct litifut_session *session,
			      const struct litifut_exit_branch *branch, uint32_t target,
			      uint8_t *code);

void litifut_exit_branches_release(struct litifut_exit_branches *branches);

#endif
