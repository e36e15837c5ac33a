/* What a trace is of, as members of a JSON object: json and html share them. */
#ifndef LITIFUT_POSTPROC_FORMATS_ABOUT_H
#define LITIFUT_POSTPROC_FORMATS_ABOUT_H

#include <stdio.h>

#include "postproc/model/session.h"

/* Each writes one member, "processes" or "modules", and the comma behind it. */
void post_about_processes(FILE *file, const struct post_session *session);
void post_about_modules(FILE *file, const struct post_session *session);

#endif
