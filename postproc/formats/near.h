/* A complaint about a function that no call is of, with names that may have been meant. */
#ifndef LITIFUT_POSTPROC_FORMATS_NEAR_H
#define LITIFUT_POSTPROC_FORMATS_NEAR_H

#include "postproc/model/session.h"

/* Reports that there is no call "of" or "by" (`relation`) the functions of a glob, and which
 * functions there are instead. */
void post_near_report(const struct post_session *session, const char *relation, const char *glob);

/* What follows the complaint that nothing is shown of the functions of a glob: that there is none,
 * and those that may have been meant; an empty text: there is one. The caller frees it. */
char *post_near_none(const struct post_session *session, const char *glob);

#endif
