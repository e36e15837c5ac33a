/* Finding the call sites of an image, and the reasons to leave some. */
#ifndef LITIFUT_REWRITER_SITES_H
#define LITIFUT_REWRITER_SITES_H

#include "rewriter/found_site.h"
#include "rewriter/rewriter.h"

/* Decodes every executable section of `image` and lists its call sites. Each
 * is marked LITIFUT_SITE_PATCHED (meaning: to be patched) or with the reason
 * why it must be left alone. The tracer's own code is not listed. */
enum litifut_status litifut_sites_find(struct litifut_image *image, const struct litifut_arch *arch,
				       const struct litifut_arch_context *context,
				       const struct litifut_rewrite_options *options,
				       struct litifut_site_list *list, struct litifut_error *error);

/* Adds sites; the list stays sorted by address. `path` is for errors. */
enum litifut_status litifut_sites_add(struct litifut_site_list *list, const char *path,
				      const struct litifut_found_site *items, size_t count,
				      struct litifut_error *error);

/* What can lead into the middle of functions. `all` must stay; release with
 * litifut_arrivals_release(), on failure as well. */
enum litifut_status litifut_arrivals_create(const struct litifut_image *image,
					    const struct litifut_arch *arch,
					    const struct litifut_arch_context *context,
					    const struct litifut_targets *all,
					    struct litifut_arrivals *arrivals,
					    struct litifut_error *error);
void litifut_arrivals_release(struct litifut_arrivals *arrivals);

void litifut_sites_release(struct litifut_site_list *list);

#endif
