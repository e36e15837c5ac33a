/* `litifut-post path-ids`, `path-sizes`, `mine` and `path-diff`: a part of the main program, so it
 * prints. */
#ifndef LITIFUT_POSTPROC_PATHS_COMMAND_H
#define LITIFUT_POSTPROC_PATHS_COMMAND_H

#include "common/options.h"

/* The last one has no name. */
extern const struct litifut_command path_commands[];

/* NULL: it is not the name of one. */
const struct litifut_command *path_command_find(const char *word);

void path_command_help(const struct litifut_command *command);

/* `arguments[0]` is that name. Returns the exit status of the program. */
int path_command(int count, char **arguments);

#endif
