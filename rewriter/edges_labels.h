/* LITIFUT_MODE=paths: labels that are recorded by a number. */
#ifndef LITIFUT_REWRITER_EDGES_LABELS_H
#define LITIFUT_REWRITER_EDGES_LABELS_H

#include "rewriter/session.h"

struct litifut_paths;

/* Gives numbers to labels of the session's graph, whose
 * `entered` says what is recorded so far, and marks the jumps that lead to them. */
enum litifut_status litifut_edges_number_labels(const struct litifut_session *session,
						const struct litifut_paths *paths,
						struct litifut_error *error);

#endif
