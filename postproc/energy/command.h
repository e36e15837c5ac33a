/* `litifut-post energy`: a part of the main program, so it prints. */
#ifndef LITIFUT_POSTPROC_ENERGY_COMMAND_H
#define LITIFUT_POSTPROC_ENERGY_COMMAND_H

/* `arguments[0]` is "energy", and the word before it the name of the program. Returns the exit
 * status of the program. */
int energy_command(int count, char **arguments);

#endif
