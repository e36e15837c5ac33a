/* The callgrind format of traces of LITIFUT_MODE=paths: instructions, exactly. */
#ifndef LITIFUT_POSTPROC_FORMATS_CALLGRIND_PATHS_H
#define LITIFUT_POSTPROC_FORMATS_CALLGRIND_PATHS_H

#include "postproc/formats/format.h"

/* Is there such a trace? */
bool post_callgrind_has_paths(const struct post_session *session);

/* All but the lines that both kinds begin with. */
void post_callgrind_paths_write(struct post_output *output);

#endif
