/* The settings of a run that were wrong, as the header of a trace has them. Part of the main
 * program: it prints. */
#ifndef LITIFUT_POSTPROC_WRONG_SETTINGS_H
#define LITIFUT_POSTPROC_WRONG_SETTINGS_H

#include <stdint.h>

/* Those whose value the recorder did not understand: a bit for each row of LITIFUT_RUN_SETTINGS. */
void post_print_wrong_settings(uint32_t wrong);

/* Names that a program had in its environment, separated by blanks, and that are not settings of
 * the recorder or of a link. */
void post_print_unknown_settings(const char *unknown);

#endif
