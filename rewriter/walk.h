/* The walk over the code of an image, on all processors: what looks like a call? */
#ifndef LITIFUT_REWRITER_WALK_H
#define LITIFUT_REWRITER_WALK_H

#include "rewriter/found_site.h"
#include "rewriter/rewriter.h"

struct litifut_walk {
	/* The sites in the order of the sections, then of their addresses, each judged as
	 * far as it and its names tell. */
	struct litifut_site_list list;
	/* Where branches, calls and tables in the code lead to. */
	struct litifut_targets branches;
	bool needs_targets; /* there are sites that only the branch targets can judge */
};

/* Names code of `image` that stands in no function, see gaps.h. Fills `walk`, the same whatever the
 * number of processors. Release it with litifut_walk_release(), on failure as well; `walk->list`
 * is the caller's to release. */
enum litifut_status litifut_walk(struct litifut_image *image, const struct litifut_arch *arch,
				 const struct litifut_arch_context *context,
				 const struct litifut_rewrite_options *options,
				 struct litifut_walk *walk, struct litifut_error *error);

void litifut_walk_release(struct litifut_walk *walk);

#endif
