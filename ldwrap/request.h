/* A link that was asked for, as all kinds of links get it. */
#ifndef LITIFUT_LDWRAP_REQUEST_H
#define LITIFUT_LDWRAP_REQUEST_H

#include "ldwrap/arguments.h"
#include "ldwrap/decision.h"
#include "ldwrap/linker.h"
#include "ldwrap/settings.h"

struct link_request {
	const struct arguments *arguments;
	const struct settings *settings;
	const struct decision *decision;
	const struct linker *linker;
	const char *object_folder; /* that holds tracer-ARCH.o and recorder-ARCH.o */
};

#endif
