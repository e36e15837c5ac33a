/* One run of the linker with a command line that the wrapper has made. */
#ifndef LITIFUT_LDWRAP_RUN_LINKER_H
#define LITIFUT_LDWRAP_RUN_LINKER_H

#include "common/error.h"
#include "ldwrap/command.h"
#include "ldwrap/deliver.h"
#include "ldwrap/request.h"

/* What a run has come to. `error` says the rest. */
enum linker_result {
	LINKER_MADE_IMAGE,
	LINKER_FAILED,    /* it was run, and reports a failure */
	LINKER_NOT_RUN,   /* no memory, no disk, no linker */
	LINKER_OVERFLOW,  /* it failed, as something does not fit into a memory of the script */
	LINKER_UNDEFINED, /* it failed, as a symbol is not defined */
};

/* Runs the linker; its messages go to the files of `files`. Of `command`, the name of the linker,
 * the output, the map and the dependency file are filled in here, out of `request` and `files`. */
enum linker_result run_linker(const struct link_request *request, const struct link_files *files,
			      struct command *command, struct litifut_error *error);

/* A line on standard error, if LITIFUT_VERBOSE asks for such lines. */
void say_verbose(const struct link_request *request, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

#endif
