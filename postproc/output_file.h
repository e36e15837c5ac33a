/* Where the output of litifut-post goes. Part of the main program: it prints. */
#ifndef LITIFUT_POSTPROC_OUTPUT_FILE_H
#define LITIFUT_POSTPROC_OUTPUT_FILE_H

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

/* A pipe to $PAGER, on a terminal only; NULL: none. */
FILE *post_file_pager(void);

/* What is written into it goes into the file, and ends the line with the progress first: for a
 * pager and a terminal. The file is closed after it. */
FILE *post_file_behind_progress(FILE *file);

/* Opens the file that -o names, under another name until it is complete; NULL: see errno. */
FILE *post_file_open(const char *path);

/* Says so when the output is one of the inputs, or in one of these folders: it would be lost. */
bool post_file_is_input(const char *output, char *const *inputs, size_t count);

/* As post_file_open() for a folder, which must not exist. */
bool post_file_make_folder(const char *path);

/* Under which name it is until then. */
const char *post_file_unfinished(void);

/* A pipe through a program into `file`, which is closed here. The caller waits for *child. NULL: no
 * such pipe could be made. */
FILE *post_file_through(const char *program, const char *argument, FILE *file, pid_t *child);

/* Writes out what is there, and keeps the reason of a failure for the closing. */
void post_file_flush(FILE *file);

/* Closes an output, and gives it its name unless `failed`; both print what goes wrong and return 1
 * then. */
int post_file_close(FILE *file, const char *path);
int post_file_name(const char *path, bool folder, int failed);

/* The output of a command that has no options of a format: what -o names (NULL: standard output),
 * and its end, with the exit status of the command. What has nothing in it when that is not 0 is
 * removed. Both print what goes wrong: NULL, and 1. */
FILE *post_file_begin(const char *path);
int post_file_end(FILE *file, const char *path, int status);

/* A signal that ends the program removes what is not complete. */
void post_file_catch_signals(void);

/* The arguments as a shell reads them. The caller frees them. */
char *post_file_command_line(int count, char **arguments);

#endif
