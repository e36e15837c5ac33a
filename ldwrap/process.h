/* Running other programs, and leaving nothing behind when interrupted. */
#ifndef LITIFUT_LDWRAP_PROCESS_H
#define LITIFUT_LDWRAP_PROCESS_H

#include <stdbool.h>

/* To be called first: where standard input, output or error is closed, no file of the wrapper may
 * come into its place. Programs that are run find it closed. */
void process_keep_standard_files(void);

/* Was standard output open then? */
bool process_has_output(void);

/* Replaces this process by the program; returns only if that fails. */
void process_replace(const char *path, char *const argv[]);

/* Runs a program and waits for it. `output` and `error` are paths of files
 * that take its standard output and standard error, NULL: they are this
 * process's own; both the same: one file in the order of writing. Returns the
 * wait status, or -1 with errno when it could not be started. */
int process_run(const char *path, char *const argv[], const char *output, const char *error);

/* Ends this process as `status` says that a child ended: the same exit status
 * or the same signal. */
_Noreturn void process_end_like(int status);

/* Makes a folder for temporary files below TMPDIR, or /tmp if that can't be, and prepares
 * for signals: on those that end a program the running child is ended and awaited, every
 * scratch file is removed and the signal is let through. A file that gets too large is an
 * error from here on, EFBIG. Returns 0, or -1 with errno. */
int scratch_open(void);

/* Should this process crash or run out of memory from here on, scratch files are removed,
 * `words` and the reason are printed, and it becomes the program `path`; NULL: it ends with
 * status 1. What is handed over must stay as it is. */
void process_prepare_for_crash(const char *words, const char *path, char *const argv[]);

/* Path of a file called `name` in the scratch folder; it is removed by
 * scratch_close() if it is there. Owned by this module. */
const char *scratch_file(const char *name);

/* Path for a file beside `target`, on the same file system, not made yet,
 * likewise removed. Owned by this module. */
const char *scratch_beside(const char *target);

/* The same in the scratch folder, for a target whose folder takes no new file. */
const char *scratch_instead_of(const char *target);

/* The folder itself; "" before scratch_open(). */
const char *scratch_folder(void);

/* Removes all scratch files and the folder. May be called twice. */
void scratch_close(void);

#endif
