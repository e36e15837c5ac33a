/* What somebody may have meant who asked for a function that is not there. */
#ifndef LITIFUT_POSTPROC_FORMATS_NEAR_H
#define LITIFUT_POSTPROC_FORMATS_NEAR_H

#include "postproc/model/session.h"

/* Has some function of the modules, called or not, a name that the glob matches? */
bool post_near_exists(const struct post_session *session, const char *glob);

/* Up to three names of functions in the traces that look like `name`, the likeliest
 * first: "a, b, c". NULL: there are none. Freed by the caller. */
char *post_near_names(const struct post_session *session, const char *name);

/* Reports that there is no call "of" or "by" (`relation`) the functions of a glob, and which
 * functions there are instead. */
void post_near_report(const struct post_session *session, const char *relation, const char *glob);

#endif
