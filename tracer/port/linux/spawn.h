/* Children that are made without libc's fork handlers. */
#ifndef LITIFUT_TRACER_SPAWN_H
#define LITIFUT_TRACER_SPAWN_H

#include <stdbool.h>

#include <litifut/litifut.h>

struct litifut_thread;

#pragma GCC visibility push(hidden)

/* Prepares a module that has just been met. */
void litifut_spawn_module(struct litifut_module *module);
/* Are the calls of a module to be compared with functions that the recorder must see before
 * they are called? */
bool litifut_spawn_asks(const struct litifut_module *module);
/* Is this call, in such a module, one of them? */
bool litifut_spawn_is(const struct litifut_call *call);
/* Holds the calling thread, whose call of such a function has been recorded, or, with
 * LITIFUT_MODE=paths, comes next. */
void litifut_spawn_begin(const struct litifut_call *call);
/* In the process that has made the child, at an event of the thread that did: lets go
 * of it, unless the event is of a signal handler. */
void litifut_spawn_end(struct litifut_thread *thread, const struct litifut_call *call);

#pragma GCC visibility pop

#endif
