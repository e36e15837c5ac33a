/* How long each task has run (tracer/port/bare/tasks.c). */
#ifndef LITIFUT_TRACER_TASKS_H
#define LITIFUT_TRACER_TASKS_H

#include "tracer/sink/frames/frames.h"

extern HIDDEN struct litifut_task litifut_tasks[LITIFUT_TASKS_MOST];
extern HIDDEN volatile uint32_t litifut_task_count;

/* Another task runs than at the last call or return. */
HIDDEN void litifut_task_changed(void);
/* Starts the clock, at the first of all calls. */
HIDDEN void litifut_tasks_start(void);
/* The entry of the task that runs becomes that of this moment. */
HIDDEN void litifut_tasks_charge(void);
/* All numbers begin anew. Weak, as most programs have no tasks. */
HIDDEN void litifut_tasks_reset(void) __attribute__((weak));

#endif
