/* Tables of what traces of LITIFUT_MODE=paths hold: instructions, and calls between functions that
 * were recorded. */
#ifndef LITIFUT_POSTPROC_FORMATS_PROFILE_H
#define LITIFUT_POSTPROC_FORMATS_PROFILE_H

#include "postproc/formats/format.h"

/* True if all traces are of LITIFUT_MODE=paths, so that there are no other calls to show. */
bool post_profile_is_all(const struct post_session *session);

/* The table of functions. */
void post_profile_report(struct post_output *output);

/* Who calls the functions of a glob, or whom they call. */
void post_profile_neighbours(struct post_output *output, bool callers);

#endif
