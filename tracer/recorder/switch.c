/* Recording on and off while the program runs: by the program itself, and by
 * LITIFUT_SIGNAL. */

#include "tracer/recorder/switch.h"

#include <linux/signal.h>
#include <stddef.h>

#include "tracer/port/linux/system.h"
#include "tracer/recorder/armed.h"
#include "tracer/recorder/clock.h"
#include "tracer/recorder/fast.h"
#include "tracer/recorder/finish.h"
#include "tracer/recorder/module_list.h"
#include "tracer/recorder/own_stack.h"
#include "tracer/recorder/scratch.h"
#include "tracer/recorder/shared.h"
#include "tracer/recorder/state.h"
#include "tracer/recorder/text.h"
#include "tracer/recorder/thread.h"
#include "tracer/recorder/threads.h"
#include "tracer/recorder/verbose.h"
#include "tracer/recorder/words.h"
#include "tracer/sink/chunks.h"

#define LITIFUT_PUBLIC __attribute__((visibility("default")))

static void litifut_switch_note(uint32_t kind)
{
	struct litifut_thread *thread = litifut_thread_find(litifut_thread_id());
	uint32_t word = LITIFUT_CONTROL_WORD(kind, 0);

	if (thread &&
	    (kind == LITIFUT_WORD_STOPPED ? !thread->scratch_from : litifut_thread_records(thread)))
		litifut_put(thread, &word, 1);
}

/* False in a process that has no trace (yet): a child before its first event. */
static bool litifut_switch_ready(void)
{
	struct litifut_recorder *r = &litifut_recorder;

	return r->phase == LITIFUT_PHASE_READY && r->file.process == litifut_process_id();
}

/* From now on each thread goes the long way with its next event, and gets the chunk that
 * is right. */
static void litifut_switch_threads(void)
{
	litifut_update_fast();
	litifut_threads_disarm();
	litifut_threads_recheck();
}

void litifut_stop_recording(void *nothing)
{
	struct litifut_recorder *r = &litifut_recorder;

	(void)nothing;
	if (!litifut_exchange(&r->recording, 1, 0))
		return;
	if (!litifut_switch_ready()) {
		litifut_update_fast();
		return;
	}
	r->stopped_ns = litifut_nanoseconds(1);
	litifut_switch_note(LITIFUT_WORD_STOPPED);
	litifut_switch_threads();
	litifut_tell("recording is off", "", 0);
	litifut_trace_finish();
}

void litifut_start_recording(void *nothing)
{
	struct litifut_recorder *r = &litifut_recorder;

	(void)nothing;
	if (!litifut_exchange(&r->recording, 0, 1))
		return;
	if (!litifut_switch_ready()) {
		litifut_update_fast();
		return;
	}
	r->file.header->state = LITIFUT_TRACE_RUNNING;
	if (r->stopped_ns) {
		r->file.header->pauses++;
		r->file.header->paused +=
			(uint32_t)((litifut_nanoseconds(1) - r->stopped_ns) >> LITIFUT_PAUSE_SHIFT);
	}
	litifut_save(&r->file, (uint32_t)r->file.header, sizeof(*r->file.header));
	litifut_switch_note(LITIFUT_WORD_STARTED);
	litifut_tell("recording is on", "", 0);
	litifut_switch_threads();
}

LITIFUT_PUBLIC void litifut_stop(void)
{
	if (!litifut_elsewhere(LITIFUT_ELSEWHERE_STOP, NULL))
		litifut_on_own_stack(litifut_stop_recording, NULL);
}

LITIFUT_PUBLIC void litifut_start(void)
{
	if (!litifut_elsewhere(LITIFUT_ELSEWHERE_START, NULL))
		litifut_on_own_stack(litifut_start_recording, NULL);
}

static void litifut_switch_signal(int number)
{
	(void)number;
	if (litifut_recorder.recording)
		litifut_stop();
	else
		litifut_start();
}

static const struct litifut_port_signal_action litifut_nothing;

void litifut_signal_start(void)
{
	uint32_t number = litifut_recorder.settings.signal;
	struct litifut_port_signal_action action;

	if (!number)
		return;
	/* What the program has installed already stays; what it installs later
	 * replaces the handler of the tracer. */
	if (litifut_failed(LITIFUT_CALL4(rt_sigaction, number, 0, &action, LITIFUT_SIGSET_BYTES)) ||
	    action.handler)
		return;
	litifut_copy(&action, &litifut_nothing, sizeof(action));
	action.handler = (uint32_t)litifut_switch_signal;
	action.flags = SA_RESTART | SA_ONSTACK;
	LITIFUT_CALL4(rt_sigaction, number, &action, 0, LITIFUT_SIGSET_BYTES);
}

void litifut_signal_end(const struct litifut_module *module)
{
	uint32_t number = litifut_recorder.settings.signal;
	struct litifut_port_signal_action action;

	if (number && litifut_module_holds(module, (uint32_t)litifut_switch_signal) &&
	    !litifut_failed(
		    LITIFUT_CALL4(rt_sigaction, number, 0, &action, LITIFUT_SIGSET_BYTES)) &&
	    action.handler == (uint32_t)litifut_switch_signal)
		LITIFUT_CALL4(rt_sigaction, number, &litifut_nothing, 0, LITIFUT_SIGSET_BYTES);
}
