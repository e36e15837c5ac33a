/* A child that may run in the memory of its parent. */
#ifndef LITIFUT_TRACER_GUEST_H
#define LITIFUT_TRACER_GUEST_H

#include <stdbool.h>
#include <stdint.h>

#include <litifut/litifut.h>

struct litifut_thread;

#pragma GCC visibility push(hidden)

/* Records a call in a separate trace of the process, without touching what its parent needs, unless
 * recording is off. False: no thread made such a child, or there can be no trace. */
bool litifut_guest_record(const struct litifut_call *call);
/* Gives back what guests of `thread` have left, down to that of `process`. */
void litifut_guests_leave(struct litifut_thread *thread, uint32_t process);

#pragma GCC visibility pop

#endif
