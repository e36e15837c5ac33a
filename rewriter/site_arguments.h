/* Which calls of an image have their arguments recorded: those whose callee is known when it is
 * linked, and has a name that LITIFUT_ARGS asks for. */
#ifndef LITIFUT_REWRITER_SITE_ARGUMENTS_H
#define LITIFUT_REWRITER_SITE_ARGUMENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/error.h"
#include "rewriter/rewriter.h"

struct litifut_session;
struct litifut_found_site;

/* Gives each site of the session its `arguments`. */
enum litifut_status litifut_site_arguments_find(struct litifut_session *session,
						const struct litifut_rewrite_options *options,
						struct litifut_error *error);

/* Is the value asked for that this call returns? It needs the return. */
bool litifut_site_is_for_value(const struct litifut_session *session,
			       const struct litifut_found_site *site);

/* Is there a trigger on the time that this call takes? It needs the return. */
bool litifut_site_is_timed(const struct litifut_session *session,
			   const struct litifut_rewrite_options *options,
			   const struct litifut_found_site *site);

/* The entries of .litifut.db that they take, at the most; 0: none are recorded. */
size_t litifut_site_arguments_entries(const struct litifut_session *session);

/* Writes them to `bytes`, where there is room for `entries` of .litifut.db, once the sites and
 * their returns have been patched. LITIFUT_ERROR_SPACE: there is not enough room. */
enum litifut_status litifut_site_arguments_write(const struct litifut_session *session,
						 const struct litifut_rewrite_options *options,
						 uint8_t *bytes, size_t entries,
						 struct litifut_error *error);

#endif
