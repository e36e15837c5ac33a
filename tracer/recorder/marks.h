/* A pin that a power analyser sees (LITIFUT_MARK_EVERY): the program has a function that sets it,
 * and each rise is among the events; in recorder-marks-ARCH.o only. */
#ifndef LITIFUT_TRACER_MARKS_H
#define LITIFUT_TRACER_MARKS_H

#include <stdbool.h>
#include <stdint.h>

/* True in recorder_marks.c and finish_marks.c, which are these parts with marks. */
#ifndef LITIFUT_WITH_MARKS
#define LITIFUT_WITH_MARKS false
#endif

struct litifut_thread;

/* The program's, if it has one. */
void litifut_mark_pin(int level) __attribute__((weak));

#pragma GCC visibility push(hidden)

/* The clock from when litifut_marks_look() is due. */
extern uint64_t litifut_marks_due;
/* Changes the pin when it is time; when it rises, a mark goes into the stream of the calling
 * thread. False: nothing was to be done. On a stack of the recorder, with signals blocked. */
bool litifut_marks_look(struct litifut_thread *thread);
/* A last pulse, for which it waits: the trace ends. Where litifut_marks_look() may be called. */
void litifut_marks_end(void *nothing);
/* Calls the program's function, with the floating-point registers kept. */
void litifut_marks_call(uint32_t level);

#pragma GCC visibility pop

#endif
