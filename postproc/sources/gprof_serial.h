/* What a firmware has sent in the format of "gprof for microcontrollers": 'A', where a call was
 * made from, the callee, for a call; 'P' and an address, for a sample; addresses of a fixed
 * width; as bytes, or as text (serial_text.h). It has no sums and no lengths, so what is there is
 * distinguished from what is damaged by the addresses alone. */
#ifndef LITIFUT_POSTPROC_SOURCES_GPROF_SERIAL_H
#define LITIFUT_POSTPROC_SOURCES_GPROF_SERIAL_H

#include "postproc/sources/inputs.h"
#include "postproc/sources/trace.h"

/* Reads the file at `path`, of the one ELF file among the inputs, as a trace of counted calls
 * and a histogram. What is skipped is reported to `problems`. The caller owns *trace. */
enum litifut_status post_gprof_serial_open(const char *path, const struct post_inputs *inputs,
					   struct post_trace **trace,
					   struct post_problems *problems,
					   struct litifut_error *error);

#endif
