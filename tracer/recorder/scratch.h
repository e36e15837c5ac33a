/* Where events go that are not recorded. */
#ifndef LITIFUT_TRACER_SCRATCH_H
#define LITIFUT_TRACER_SCRATCH_H

#include <stdbool.h>

struct litifut_thread;

#pragma GCC visibility push(hidden)

/* Gives `thread`, the calling one, the chunk that its next event belongs into. False: that
 * is a scratch chunk, and the event is not recorded. */
bool litifut_thread_records(struct litifut_thread *thread);
/* When the process is set up. */
void litifut_scratch_start(void);
/* Gives `thread`, the calling one, a scratch chunk, because there is no other. */
void litifut_scratch_enter(struct litifut_thread *thread);
/* Before system calls are given up: maps those that may be needed afterwards. */
void litifut_scratch_prepare(void);
/* Takes it from `thread`, the calling one. */
void litifut_scratch_leave(struct litifut_thread *thread);
/* Counts what all threads have lost so far. */
void litifut_scratch_count_all(void);
/* Of a thread that is not there any more: its cursor is that of its chunk in the file. */
void litifut_scratch_drop(struct litifut_thread *thread);

#pragma GCC visibility pop

#endif
