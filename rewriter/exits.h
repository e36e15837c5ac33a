/* Where traced calls return to: the code there becomes a branch to a trampoline that records
 * the return, does what stood there, and goes back. The call and its link register stay as
 * they are, so nothing that unwinds sees it.
 *
 * Branches that lead there as well are led past the record (exit_branches.h).
 *
 * What is not certain is left, with the reason (enum litifut_exit_reason) in the list of sites:
 * code that tables or pointers lead into, code that can't be moved, a link register that holds
 * something at that point, a return point that is reached without a return. */
#ifndef LITIFUT_REWRITER_EXITS_H
#define LITIFUT_REWRITER_EXITS_H

#include <litifut/module_format.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/error.h"
#include "rewriter/exit_point.h"
#include "rewriter/rewriter.h"

struct litifut_found_site;
struct litifut_session;
struct litifut_rooms;
struct litifut_frames;
struct litifut_unwind;
struct litifut_changes;

/* Judges the return points of all patched calls of the session, which has its sites. Marks the
 * code that they take as targets, so that nothing else moves it. */
enum litifut_status litifut_exits_find(struct litifut_session *session,
				       struct litifut_error *error);

/* The site in the form that the functions for return points take. The code of a function without a
 * size, such as the division of 64-bit numbers in libgcc, reaches to the next function. */
struct litifut_cramped_call litifut_exit_call(const struct litifut_image *image,
					      const struct litifut_found_site *site);

/* Writes them, behind what there is in the rooms, once the sites have been patched. The list
 * of sites learns where they are, or why there is none. LITIFUT_ERROR_SPACE: no room. */
enum litifut_status litifut_exits_write(struct litifut_session *session,
					struct litifut_rooms *rooms, struct litifut_frames *frames,
					struct litifut_unwind *unwind,
					struct litifut_changes *changes,
					struct litifut_error *error);

/* Counts the return of a site in a summary. */
static inline void litifut_exits_count(struct litifut_rewrite_summary *summary,
				       const struct litifut_site *site)
{
	if (site->exit_reason == LITIFUT_EXIT_OFF || site->exit_reason == LITIFUT_EXIT_COUNTER)
		return;
	summary->returns++;
	summary->returns_by[site->exit_reason & 31]++;
}

void litifut_exits_release(struct litifut_exits *exits);

#endif
