/* The cursor of a thread where its thunks find it. */
#ifndef LITIFUT_TRACER_ARMED_H
#define LITIFUT_TRACER_ARMED_H

#include <stdint.h>

struct litifut_thread;

#pragma GCC visibility push(hidden)

/* start.S: what the thread pointer of a static program with thunks refers to before
 * libc has set it up: a vector's address, nothing, and a vector. */
extern uint32_t litifut_early_thread[4];

/* The word for the cursor in the vector that this thread pointer leads to; NULL when there is no
 * vector. */
uint32_t *litifut_cursor_word(uint32_t pointer);
/* Where the cursor of `thread`, the calling one, is. */
uint32_t *litifut_thread_cursor(struct litifut_thread *thread);
/* Lets the thunks of `thread`, the calling one, store events. */
void litifut_thread_arm(struct litifut_thread *thread);
/* Takes the cursor of `thread`, the calling one, from the thunks. */
void litifut_thread_disarm(struct litifut_thread *thread);
/* The same for all threads, as soon as can be: one that is about to store an event
 * still does. */
void litifut_threads_disarm(void);
/* In a new process: what the calling thread's thunks store to is the parent's. */
void litifut_cursor_drop(void);
/* Finds the end of what a thread that has ended had recorded. */
uint32_t litifut_cursor_recover(const struct litifut_thread *thread);

#pragma GCC visibility pop

#endif
