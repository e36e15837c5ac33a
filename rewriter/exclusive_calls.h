/* The call sites between an exclusive load and its store. Recording a call stores exclusively
 * itself, after which the program's store fails each time. */
#ifndef LITIFUT_REWRITER_EXCLUSIVE_CALLS_H
#define LITIFUT_REWRITER_EXCLUSIVE_CALLS_H

#include "rewriter/sites.h"

/* Gives them LITIFUT_SITE_EXCLUSIVE, also where functions of their own make the load and the store
 * (__LDREXW and __STREXW, __ldrex and __strex), or functions around these, and to the sites of all
 * functions that such calls lead to directly; with `returns` also to calls of functions that make
 * the load. `functions`, by number of the symbol, gets 1 for all functions whose code is executed
 * there. */
enum litifut_status litifut_exclusive_mark(const struct litifut_image *image,
					   const struct litifut_arch *arch,
					   const struct litifut_arch_context *context,
					   struct litifut_site_list *sites, bool returns,
					   uint8_t *functions, struct litifut_error *error);

#endif
