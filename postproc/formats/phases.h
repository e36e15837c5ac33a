/* What `report` becomes with --phase. */
#ifndef LITIFUT_POSTPROC_FORMATS_PHASES_H
#define LITIFUT_POSTPROC_FORMATS_PHASES_H

#include "postproc/formats/format.h"

extern const struct post_format post_format_phases;

#endif
