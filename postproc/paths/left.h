/* Functions of which LITIFUT_MODE=paths and balllarus record nothing. */
#ifndef LITIFUT_POSTPROC_PATHS_LEFT_H
#define LITIFUT_POSTPROC_PATHS_LEFT_H

#include "postproc/model/session.h"

/* Writes a sentence that says how many functions of the programs were left, though the user has
 * not excluded them, and names the largest. False: there are none. */
bool post_left_line(struct post_session *session, char *line, size_t size);

#endif
