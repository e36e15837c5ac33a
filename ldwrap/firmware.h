/* Links of firmware, made with a tracer that needs no system. */
#ifndef LITIFUT_LDWRAP_FIRMWARE_H
#define LITIFUT_LDWRAP_FIRMWARE_H

#include "ldwrap/link.h"

/* As link_rewritten(), where firmware_runtime() has found a runtime. */
enum litifut_status firmware_link(const struct link_request *request, struct link_outcome *outcome,
				  struct litifut_error *error);

#endif
