/* A process that may make no system calls any more, or only some. */
#ifndef LITIFUT_TRACER_CONFINE_H
#define LITIFUT_TRACER_CONFINE_H

#include <stdint.h>

#pragma GCC visibility push(hidden)

/* Maps what is needed to record on without system calls. `kb`: room for events. */
void litifut_confine(uint32_t kb);
/* In a child: the thread that has called litifut_confine() was one of the parent. */
void litifut_confine_forget(void);
/* Makes no more system calls, when litifut_confine() has been called. The last thing that
 * is done where signals were blocked. */
void litifut_confine_now(void);
/* With LITIFUT_SYSCALLS=never, once all is known that can only be asked of the kernel. */
void litifut_confine_when_due(void);
/* A confined process makes a child, which nothing can tell from it: what both call from
 * here on is lost. */
void litifut_confined_spawns(void);

#pragma GCC visibility pop

#endif
