/* The call sites that run when a function of the results' port runs: they must not be counted,
 * as the results would change while they are sent. */
#ifndef LITIFUT_REWRITER_REACHABLE_H
#define LITIFUT_REWRITER_REACHABLE_H

#include "rewriter/sites.h"

/* Gives LITIFUT_SITE_PORT to the sites of all functions that the function `name` reaches by
 * direct calls. Calls through pointers are not followed. `functions`, by number of the symbol, gets
 * 1 for these functions; it may be NULL. */
enum litifut_status litifut_reachable_mark(const struct litifut_image *image,
					   const struct litifut_arch *arch,
					   const struct litifut_arch_context *context,
					   const char *name, struct litifut_site_list *sites,
					   uint8_t *functions, struct litifut_error *error);

#endif
