/* The results of a firmware as a process that made calls: no events, but how often each call
 * was made. */
#ifndef LITIFUT_POSTPROC_SOURCES_FIRMWARE_H
#define LITIFUT_POSTPROC_SOURCES_FIRMWARE_H

#include "postproc/sources/inputs.h"
#include "postproc/sources/trace.h"

/* Reads it with the help of the ELF file among `inputs` that it comes from. The caller owns
 * *trace, whose `counted` has the calls. */
enum litifut_status post_firmware_open(const char *path, const struct post_inputs *inputs,
				       struct post_trace **trace, struct post_problems *problems,
				       struct litifut_error *error);

#endif
