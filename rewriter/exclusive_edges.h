/* Functions with code between an exclusive load and its store where these are in functions of their
 * own. Branches between the two in one function are found with the graph (graph.h). */
#ifndef LITIFUT_REWRITER_EXCLUSIVE_EDGES_H
#define LITIFUT_REWRITER_EXCLUSIVE_EDGES_H

#include "rewriter/session.h"

struct litifut_graph;

/* Gives them LITIFUT_SITE_EXCLUSIVE in session->left, unless that is there already. */
enum litifut_status litifut_exclusive_functions(struct litifut_session *session,
						const struct litifut_graph *graph,
						struct litifut_error *error);

#endif
