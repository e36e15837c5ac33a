/* Which blocks of a program were executed, in order: from the traces of LITIFUT_MODE=paths. */
#ifndef LITIFUT_POSTPROC_PATHS_TRACED_H
#define LITIFUT_POSTPROC_PATHS_TRACED_H

#include "postproc/model/session.h"
#include "postproc/paths/executed.h"

/* The file of the module that has executed most blocks in all traces; NULL: there is none. */
struct post_image *path_traced_image(struct post_session *session);

/* What the program, of that file, has executed in all traces, a lane for each thread. Where it is
 * not known what a thread has done there is PATH_NO_BLOCK. */
void path_traced_read(struct post_session *session, const struct path_program *program,
		      struct path_executed *executed);

#endif
