/* Which thread is this? */
#ifndef LITIFUT_TRACER_THREADS_H
#define LITIFUT_TRACER_THREADS_H

#include <stdbool.h>
#include <stdint.h>

/* How far below its end libc's thread structure is searched for the id. The
 * program's own thread variables lie above the end and are never looked at:
 * one may hold a cached id, which a fork would not change at once. */
#define LITIFUT_ID_SEARCH_BYTES 0x800

struct litifut_thread;

#pragma GCC visibility push(hidden)

/* The calling thread's state, made when it has none; NULL without memory. `id` is its
 * kernel thread id. */
struct litifut_thread *litifut_thread_find(uint32_t id);
/* Maps the table of threads. */
bool litifut_threads_start(void);
/* True when a thread is in the table. */
bool litifut_threads_in_use(void);
/* True when libc's id word says what the kernel does of the calling thread. */
bool litifut_is_libc_thread(void);
/* Every thread takes the long way with its next event. */
void litifut_threads_recheck(void);
/* After fork: none of the known threads exists here. */
void litifut_threads_forget(void);

#pragma GCC visibility pop

#endif
