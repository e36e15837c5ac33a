/* Which edges of an image are recorded; edges_write.c writes them. */
#ifndef LITIFUT_REWRITER_EDGES_FIND_H
#define LITIFUT_REWRITER_EDGES_FIND_H

#include "rewriter/edges.h"

/* Finds and judges edges: session->edges, and session->sites, which lists them. */
enum litifut_status litifut_edges_find(struct litifut_session *session,
				       const struct litifut_rewrite_options *options,
				       struct litifut_error *error);

#endif
