/* Which code of an image is the program's own, and which of that may be changed? */
#ifndef LITIFUT_REWRITER_PROGRAM_CODE_H
#define LITIFUT_REWRITER_PROGRAM_CODE_H

#include <stdbool.h>

#include "rewriter/image.h"
#include "rewriter/rewriter.h"

/* The section holds what the linker makes for calls to other modules: PLT
 * entries, lazy stubs. */
bool litifut_section_is_linkage(const struct litifut_section *section);

/* May there be calls of the program's own in this section? */
bool litifut_sites_in(const struct litifut_section *section);

/* The section with all of the code of `function`; NULL: it has no such section, or that
 * holds no calls of the program's own. */
const struct litifut_section *litifut_sites_section_of(const struct litifut_image *image,
						       const struct litifut_symbol *function);

/* Is it code of the tracer? `function` may be NULL: code without a name. */
bool litifut_is_tracer_code(const struct litifut_symbol *function);

/* Do the names in `options`, or what the C library needs, exclude `function` (may be NULL)? */
bool litifut_is_excluded(const struct litifut_image *image,
			 const struct litifut_rewrite_options *options,
			 const struct litifut_symbol *function);

/* Do the options leave a direct call of `callee` (may be NULL: it is not known)? `caller_refused`:
 * they exclude the code that it is made in. */
bool litifut_leaves_call(const struct litifut_rewrite_options *options, bool caller_refused,
			 const struct litifut_symbol *callee);

/* May the code of `function` be changed, as far as names and ranges in the
 * options say? */
bool litifut_sites_may_change(const struct litifut_image *image,
			      const struct litifut_rewrite_options *options,
			      const struct litifut_symbol *function);

/* Does one of the globs match the name? `globs` ends with NULL and may be NULL. */
bool litifut_is_named(const char *const *globs, const char *name);

#define LITIFUT_INCLUDE_CALLS_MAX 99

/* LITIFUT_INCLUDE=NAME+3: is the word a glob, `length` bytes of it, with a number of calls behind
 * it (downward.h)? */
bool litifut_include_split(const char *word, size_t *length, unsigned *calls);

/* `name` gets that of the function of the program which is most like a word of the list (ends with
 * NULL; globs are left out), or "" if there is none, or if it has that name. */
void litifut_nearest_function(const struct litifut_image *image, const char *const *words,
			      char name[LITIFUT_NEAREST_BYTES]);

/* Which of the names that the options ask for no function of `image` has. */
void litifut_judge_names(const struct litifut_image *image,
			 const struct litifut_rewrite_options *options,
			 struct litifut_asked *asked);

#endif
