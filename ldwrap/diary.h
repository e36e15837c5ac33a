/* What the links of a build came to: each link adds a line to a file that `litifut build' has
 * made, and reads at the end. */
#ifndef LITIFUT_LDWRAP_DIARY_H
#define LITIFUT_LDWRAP_DIARY_H

#include <stdbool.h>
#include <stdio.h>

/* Names the file in the environment of the links. */
#define DIARY_VARIABLE "LITIFUT_LD_DIARY"

/* Notes a link under `litifut build', else does nothing. `reason` is why `output` is not
 * traced, NULL: it is. `printed`: the link has just said so. */
void diary_note(const char *output, const char *reason, bool printed);

/* Notes a link that makes nothing for the device. */
void diary_note_other(void);

/* Notes a link by which a configure script tries something. */
void diary_note_trial(void);

/* As diary_note() for a.out, which may be a trial or what a user has linked. */
void diary_note_unnamed(const char *output, const char *reason, bool printed);

/* Notes what is wrong with the settings of a link. */
void diary_note_warning(const char *line);

/* Notes that a firmware that is traced has little memory left. False: there is no diary. */
bool diary_note_low_memory(const char *line);

/* Notes settings of the recorder that the link of a traced program had, which are not for links. */
void diary_note_run_settings(const char *names);

/* Notes how to get the results of a firmware that is traced and sends nothing. */
void diary_note_unsent(const char *line);

/* Notes that a setting names nothing in the link of `output`, which is traced. `line` says which,
 * `nearest' what may have been meant, or it is "". False: there is no diary. */
bool diary_note_nothing(const char *output, const char *line, const char *nearest);

/* Makes the file and puts its name into the environment. False: it can't be made, or a build
 * around this one has one. */
bool diary_open(void);

/* Reads what was noted, removes the file, and writes one line to `to`, if not NULL. Unless `wordy`
 * it prints a line only where several links have ignored a setting: each link has printed its own
 * lines. Where the command has `failed` it prints what was linked before, if something was. Returns
 * how many files were traced. `only_others`, if not NULL: there were links, but none of a program
 * or library for a CPU that can be traced. */
size_t diary_close(FILE *to, bool wordy, bool failed, bool *only_others);

#endif
