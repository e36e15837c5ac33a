/* What a table with times has besides the table, for send.c: its clock, what the tracer adds to a
 * call, and the calls that have not returned. */
#ifndef LITIFUT_TRACER_TIMES_H
#define LITIFUT_TRACER_TIMES_H

#include <litifut/firmware_pool.h>

#ifdef LITIFUT_TASKS
#include "tracer/sink/frames/tasks.h"
#endif

#ifdef POOL_COST_IS_CONSTANT
/* Not addresses but numbers. */
extern HIDDEN char litifut_call_inside[] __attribute__((weak));
extern HIDDEN char litifut_call_whole[] __attribute__((weak));
#else
extern HIDDEN struct litifut_calibration litifut_calibration;
#endif
#ifdef POOL_HAS_NEWEST
extern HIDDEN const uint8_t *const volatile litifut_open_newest __attribute__((weak));
#endif
extern HIDDEN uint8_t litifut_open[];
extern HIDDEN uint8_t litifut_open_end[];
/* Not an address but a number. */
extern HIDDEN char litifut_clock_hertz[];

/* Weak, so that they are those of the code which the program has for times. */
extern HIDDEN uint32_t litifut_pool[POOL_BYTES / 4] __attribute__((weak));
HIDDEN uint32_t litifut_clock_read(void) __attribute__((weak));

/* Which record an address is of: see 'O' in <litifut/frames_format.h>. */
static unsigned litifut_name_of(const uint32_t *record)
{
	return (uintptr_t)record > UINT8_MAX ? (unsigned)(record - litifut_table) + 1 : 0;
}

/* Both are read once: the call may return meanwhile, and another one take its place. */
static void litifut_send_open(const uint8_t *open)
{
	uint32_t start = *(const volatile uint32_t *)(open + OPEN_START);
	unsigned name = litifut_name_of(*(const uint32_t *const volatile *)(open + OPEN_RECORD));

#ifdef POOL_HAS_NEWEST
	if (open < litifut_open_newest)
		name = 0;
#endif
	litifut_frame_add(name);
	if (name)
		litifut_frame_add(litifut_clock_read() - start);
}

#define FIRST_PART FRAME_PART(LITIFUT_FRAME_TIMES)
#define litifut_make_others litifut_make_times

#ifdef LITIFUT_TASKS
#define BEHIND_OPEN FRAME_PART(LITIFUT_FRAME_TASK)

/* What is next: twice the number of a task, and 1 more: its name. */
static inline frame_byte litifut_make_tasks(void)
{
	const unsigned next = litifut_frame.next;
	const struct litifut_task *task = &litifut_tasks[next >> 1];

	litifut_frame_add(next);
	if (next & 1) {
		for (unsigned i = 0; i < LITIFUT_TASK_NAME_BYTES && task->name[i]; i++)
			litifut_frame_add((uint8_t)task->name[i] & 0x7f);
	} else {
		litifut_frame_add(task->task);
		litifut_frame_add(task->calls);
		litifut_frame_add(task->ticks_low);
		litifut_frame_add(task->ticks_high);
	}
	litifut_frame.next = (uint16_t)(next + 1);
	if (next + 1 < 2 * litifut_task_count)
		return FRAME_PART(LITIFUT_FRAME_TASK);
	litifut_frame.next = 0;
	return FRAME_PART(LITIFUT_FRAME_COUNTS);
}
#else
#define BEHIND_OPEN FRAME_PART(LITIFUT_FRAME_COUNTS)
#endif

/* The number of the entry that is next is that of the next number. */
static inline frame_byte litifut_make_times(frame_byte part)
{
	const unsigned entries = (unsigned)(litifut_open_end - litifut_open) / OPEN_BYTES;
	unsigned i = litifut_frame.next;

#ifdef LITIFUT_TASKS
	if (part == FRAME_PART(LITIFUT_FRAME_TASK))
		return litifut_make_tasks();
#endif
	if (part == FIRST_PART) {
		litifut_frame_add((uint32_t)(uintptr_t)litifut_clock_hertz);
#ifdef POOL_COST_IS_CONSTANT
		litifut_frame_add(1);
		litifut_frame_add((uintptr_t)litifut_call_inside);
		litifut_frame_add((uintptr_t)litifut_call_whole);
#else
		litifut_frame_add(litifut_calibration.calls);
		litifut_frame_add(litifut_calibration.inside);
		litifut_frame_add(litifut_calibration.whole);
#endif
		litifut_frame_add(((const volatile uint32_t *)litifut_pool)[POOL_UNTIMED / 4]);
		litifut_frame_add(entries);
#ifdef LITIFUT_TASKS
		litifut_tasks_charge();
		litifut_frame_add(litifut_task_count);
#endif
	} else {
		litifut_frame_add(i);
		for (; i < entries && litifut_frame_has_room(&litifut_frame, 2); i++)
			litifut_send_open(litifut_open + OPEN_BYTES * i);
	}
	if (i < entries) {
		litifut_frame.next = (uint16_t)i;
		return FRAME_PART(LITIFUT_FRAME_OPEN);
	}
	litifut_frame.next = 0;
	return BEHIND_OPEN;
}

#endif
