/* All steps from a traced firmware to what is shown of it: litifut run-mcu. */
#ifndef LITIFUT_LDWRAP_RUN_MCU_H
#define LITIFUT_LDWRAP_RUN_MCU_H

#include "ldwrap/capture.h"

struct run_mcu_options {
	const char *elf;
	const char *flash; /* a command of the shell; "$1" in it is the file; NULL: none */
	struct capture_options capture;
	const char *format; /* of litifut-post, or pdf */
	const char *output; /* NULL: standard output */
};

/* Runs the command that loads and starts the firmware, saves what that sends meanwhile, and
 * shows it. Returns LITIFUT_OK with the exit status of litifut-post in *result, or what went
 * wrong before. */
enum litifut_status run_mcu(const struct run_mcu_options *options, int *result,
			    struct litifut_error *error);

#endif
