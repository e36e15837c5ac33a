/* The line on the terminal that says how far a work is that takes a while. Part of the main
 * program: it prints. */
#ifndef LITIFUT_POSTPROC_PROGRESS_H
#define LITIFUT_POSTPROC_PROGRESS_H

#include <stddef.h>
#include <stdint.h>

/* From now on the line may be shown, if standard error is a terminal; again after an end, too. */
void post_progress_begin(void);

/* For inputs and for timelines; `all` is 0 while that is not known. */
void post_progress_files(void *context, size_t done, size_t all);
void post_progress_bytes(void *context, uint64_t done, uint64_t all);

/* Before anything else is printed; a signal handler may call it. */
void post_progress_erase(void);

/* Erases it for good, as something else is on the terminal. */
void post_progress_end(void);

#endif
