/* The callgrind format of traces of LITIFUT_MODE=paths: instructions, exactly. */
#ifndef LITIFUT_POSTPROC_FORMATS_CALLGRIND_PATHS_H
#define LITIFUT_POSTPROC_FORMATS_CALLGRIND_PATHS_H

#include "postproc/formats/format.h"

/* All but the lines that both kinds begin with. */
void post_callgrind_paths_write(struct post_output *output);

#endif
