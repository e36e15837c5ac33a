/* The pin is raised at the first event, then every so many milliseconds, at the first event behind
 * that, and once more when the trace ends. It is lowered at the first event behind an eighth of
 * this time, which is 250 microseconds or more. The intervals are not all alike, so that the marks
 * fit to the edges of the curve at one place only.
 *
 * Events that a thunk stores do not come here; each 2048th or so does. */

#include "tracer/recorder/marks.h"

#include <litifut/arguments.h>
#include <litifut/spans_format.h>

#include "tracer/port/linux/system.h"
#include "tracer/recorder/arguments.h"
#include "tracer/recorder/clock.h"
#include "tracer/recorder/shared.h"
#include "tracer/recorder/state.h"
#include "tracer/recorder/thread.h"
#include "tracer/recorder/threads.h"
#include "tracer/recorder/words.h"

#define LITIFUT_MARKS_NEVER UINT64_MAX
#define LITIFUT_MARKS_WAIT_NS 300000

uint64_t litifut_marks_due;

static struct {
	uint32_t process;  /* that has the pin: a child has none */
	uint32_t busy;     /* a thread is changing the pin */
	uint32_t is_set;   /* the pin */
	uint64_t interval; /* ticks of the clock; 0: not known yet */
	uint64_t risen;
	uint8_t order;
} litifut_marks;

/* LITIFUT_MARK_EVERY of the link; 0: it had none. */
static uint32_t litifut_marks_every(void)
{
	const struct litifut_argument_header *header = litifut_argument_header(&litifut_module);

	return litifut_module.flags & LITIFUT_MODULE_ARGUMENTS &&
			       header->magic == LITIFUT_ARGUMENT_MAGIC
		       ? header->mark_every
		       : 0;
}

/* Ticks of the clock in so many milliseconds; 0: it is not known. */
static uint64_t litifut_marks_ticks(uint32_t milliseconds)
{
	const uint32_t hertz = litifut_clock_hertz();
	uint32_t each = (uint32_t)((hertz * (uint64_t)4294968) >> 32); /* 2^32 / 1000 */

	if (litifut_recorder.clock == LITIFUT_CLOCK_NONE)
		return 0;
	if (litifut_recorder.clock == LITIFUT_CLOCK_MONOTONIC)
		each = 1000000;
	return each * (uint64_t)milliseconds;
}

static void litifut_marks_put(struct litifut_thread *thread, uint64_t now)
{
	uint32_t words[3] = {LITIFUT_CONTROL_WORD(LITIFUT_WORD_MARK, 1), LITIFUT_SPAN_MARK_PIN};
	uint32_t time[3];

	if ((uint32_t)(now >> 30) != thread->time_high) {
		litifut_time_words(now, time);
		if (litifut_put(thread, time, 3))
			thread->time_high = (uint32_t)(now >> 30);
	}
	litifut_put(thread, words, litifut_stamp_words(now, words, 2));
}

static void litifut_marks_change(struct litifut_thread *thread)
{
	const uint64_t interval = litifut_marks.interval, pulse = interval >> 3;
	uint64_t rise = litifut_clock_now(), due;

	litifut_marks.is_set ^= 1;
	if (litifut_marks.is_set) {
		litifut_marks.risen = rise;
		litifut_marks_put(thread, rise);
	} else {
		rise = litifut_marks.risen + interval;
		litifut_marks.order = (uint8_t)(5 * litifut_marks.order + 77);
		if (litifut_marks.order >> 7)
			rise += pulse;
	}
	litifut_marks_call(litifut_marks.is_set);
	/* The function may take long, or another thread may run meanwhile. */
	due = litifut_clock_now() + pulse;
	litifut_marks_due = rise > due ? rise : due;
}

/* Has this process the pin, and may it make system calls? */
static bool litifut_marks_may(void)
{
	return !litifut_system_calls_forbidden && litifut_marks.interval &&
	       litifut_marks.process == litifut_process_id();
}

/* The first event of the process. */
static void litifut_marks_start(void)
{
	litifut_marks.process = litifut_process_id();
	if (litifut_mark_pin)
		litifut_marks.interval = litifut_marks_ticks(litifut_marks_every());
}

bool litifut_marks_look(struct litifut_thread *thread)
{
	bool may;

	if (litifut_clock_now() < litifut_marks_due)
		return false;
	if (litifut_marks.process && !litifut_marks_may()) {
		litifut_marks_due = LITIFUT_MARKS_NEVER;
		return false;
	}
	if (!litifut_exchange(&litifut_marks.busy, 0, 1))
		return false;
	litifut_marks_due = LITIFUT_MARKS_NEVER; /* also for calls of the program's function */
	if (!litifut_marks.process)
		litifut_marks_start();
	may = litifut_marks_may();
	if (may)
		litifut_marks_change(thread);
	litifut_exchange(&litifut_marks.busy, 1, 0);
	return may;
}

static void litifut_marks_wait(void)
{
	static const uint32_t litifut_time[2] = {0, LITIFUT_MARKS_WAIT_NS};

	LITIFUT_CALL2(nanosleep, litifut_time, 0);
}

void litifut_marks_end(void *nothing)
{
	struct litifut_thread *thread;

	(void)nothing;
	if (!litifut_marks_may() || litifut_marks_due == LITIFUT_MARKS_NEVER ||
	    !litifut_exchange(&litifut_marks.busy, 0, 1))
		return;
	litifut_marks_due = LITIFUT_MARKS_NEVER;
	thread = litifut_thread_find(litifut_thread_id());
	for (uint32_t change = litifut_marks.is_set ? 3 : 2;
	     thread && !thread->scratch_from && change; change--) {
		litifut_marks_wait();
		litifut_marks_change(thread);
	}
	litifut_marks_due = litifut_clock_now() + litifut_marks.interval;
	litifut_exchange(&litifut_marks.busy, 1, 0);
}
