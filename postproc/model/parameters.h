/* The names of arguments, from DWARF. Looked up only when they are asked for. */
#ifndef LITIFUT_POSTPROC_MODEL_PARAMETERS_H
#define LITIFUT_POSTPROC_MODEL_PARAMETERS_H

#include "postproc/model/session.h"

/* What the argument with this number of a call is called in the source: `flags`, or `offset+4` for
 * the second word of one that takes two. `function` is the callee; `call` is an index of
 * session->calls, or POST_NONE. NULL: it is not known. Lives as long as the session. */
const char *post_parameter_name(struct post_session *session, uint32_t function, uint32_t call,
				unsigned number);

#endif
