/* A forked child has the thunks' cursor of its parent and would go on storing
 * into the parent's trace. So libc is asked to tell of a fork before it is done:
 * the thread that forks is disarmed, and its next event in either process goes
 * the long way, which finds out where it is. `__register_atfork`, which
 * pthread_atfork() stands on, does that. For functions that run no such handlers
 * see spawn.c.
 *
 * Signals are blocked meanwhile. The handler of a timer that has come between would take the long
 * way with each call or branch, and where that takes longer than the timer's period, the next
 * signal is pending when it returns, so the program never gets out of fork(). */

#include "tracer/port/linux/fork.h"

#include <linux/signal.h>
#include <litifut/module_format.h>
#include <stddef.h>

#include "tracer/port/linux/loaded.h"
#include "tracer/port/linux/system.h"
#include "tracer/recorder/armed.h"
#include "tracer/recorder/fast.h"
#include "tracer/recorder/module_list.h"
#include "tracer/recorder/process.h"
#include "tracer/recorder/state.h"
#include "tracer/recorder/table_words.h"
#include "tracer/recorder/thread.h"
#include "tracer/recorder/threads.h"

typedef int (*litifut_register)(void (*prepare)(void), void (*parent)(void), void (*child)(void),
				void *object);
typedef void (*litifut_finalize)(void *object);

static litifut_finalize litifut_finalize_object;
/* Stands for the object that the handlers belong to. */
static uint32_t litifut_fork_object;

/* All but those that the CPU sends: one of these that is blocked ends the process. */
static const struct litifut_signals litifut_fork_signals = {
	{~(1u << (SIGILL - 1) | 1u << (SIGTRAP - 1) | 1u << (SIGBUS - 1) | 1u << (SIGFPE - 1) |
	   1u << (SIGSEGV - 1) | 1u << (SIGSYS - 1)),
	 [1 ... LITIFUT_SIGSET_BYTES / 4 - 1] = UINT32_MAX}};

static void litifut_fork_block(struct litifut_thread *thread)
{
	if (!litifut_failed(LITIFUT_CALL4(rt_sigprocmask, SIG_BLOCK, &litifut_fork_signals,
					  thread->fork_signals, LITIFUT_SIGSET_BYTES)))
		thread->fork_pointer = litifut_port_thread_pointer(litifut_recorder.features);
}

/* The thread that forks, in both processes. It has another id in the child, where a call that came
 * before may also have begun the trace, so all that is known of it is its pointer. */
static struct litifut_thread *litifut_forking_thread(void)
{
	const uint32_t pointer = litifut_port_thread_pointer(litifut_recorder.features);
	struct litifut_thread *thread = litifut_recorder.thread_list;

	while (thread && (!pointer || thread->fork_pointer != pointer))
		thread = thread->next;
	return thread;
}

static void litifut_fork_unblock(void)
{
	struct litifut_thread *thread = litifut_forking_thread();

	if (!thread)
		return;
	thread->fork_pointer = 0;
	/* also when another thread has confined the process meanwhile */
	litifut_open_gate_call4(__NR_rt_sigprocmask, SIG_SETMASK, (long)thread->fork_signals, 0,
				LITIFUT_SIGSET_BYTES);
}

static void litifut_before_fork(void)
{
	struct litifut_recorder *r = &litifut_recorder;
	struct litifut_thread *thread;

	if (r->phase != LITIFUT_PHASE_READY || r->file.process != litifut_process_id())
		return;
	thread = litifut_thread_find(litifut_thread_id());
	if (!thread)
		return;
	if (thread->pointer)
		litifut_fork_block(thread);
	thread->hold |= LITIFUT_HOLD_FORK;
	litifut_thread_disarm(thread);
}

/* In the child all is made anew with the first event. */
static void litifut_after_fork(void)
{
	struct litifut_thread *thread = litifut_thread_find(litifut_thread_id());

	if (thread)
		thread->hold &= ~(uint32_t)LITIFUT_HOLD_FORK;
	litifut_fork_unblock();
}

/* The next event of the child must begin another trace, also where the child has the process number
 * of its parent: both may be the first process of a PID namespace. Flags of edges have no event, so
 * their trace begins here. A confined child can't ask who it is, and has the parent's memory: it
 * counts there. */
static void litifut_begin_child(void)
{
	struct litifut_recorder *r = &litifut_recorder;
	const struct litifut_thread *thread = litifut_forking_thread();
	struct litifut_module *module;
	uint32_t first = 0;

	/* In a static program libc's fork makes calls that are traced: the first of them has begun
	 * the trace, and forgotten what the threads of the parent did. */
	if (r->phase != LITIFUT_PHASE_READY || (thread && !(thread->hold & LITIFUT_HOLD_FORK)))
		return;
	if (!litifut_system_calls_forbidden) {
		r->file.process = 0;
		litifut_threads_recheck();
		module = litifut_is_flags() ? litifut_modules_next(&first) : NULL;
		if (module)
			litifut_process_ready(module);
		return;
	}
	r->phase = LITIFUT_PHASE_OFF;
	r->orphans = &r->file.header->lost_events;
	litifut_update_fast();
}

static void litifut_in_child(void)
{
	litifut_begin_child();
	litifut_fork_unblock();
	/* others that were about to fork are not here */
	for (struct litifut_thread *thread = litifut_recorder.thread_list; thread;
	     thread = thread->next)
		thread->fork_pointer = 0;
}

/* Without __register_atfork a static program can't fork. */
static bool litifut_fork_start_static(const struct litifut_module *module)
{
	uint32_t bias = (uint32_t)module - module->link_address;
	litifut_register enlist = (litifut_register)(module->register_atfork + bias);

	return !module->register_atfork || !enlist(litifut_before_fork, litifut_after_fork,
						   litifut_in_child, &litifut_fork_object);
}

bool litifut_fork_start(const struct litifut_module *module)
{
	uint32_t found[2];
	litifut_register enlist;

	if (module->entry)
		return litifut_fork_start_static(module);
	if (!litifut_functions_of(LITIFUT_LOADED_LIBC, "__register_atfork\0__cxa_finalize", found,
				  2) ||
	    !found[0] || !found[1])
		return false;
	enlist = (litifut_register)found[0];
	litifut_finalize_object = (litifut_finalize)found[1];
	return !enlist(litifut_before_fork, litifut_after_fork, litifut_in_child,
		       &litifut_fork_object);
}

void litifut_fork_end(const struct litifut_module *module)
{
	struct litifut_recorder *r = &litifut_recorder;

	if (!r->thunks || !litifut_module_holds(module, (uint32_t)litifut_fork_end))
		return;
	r->thunks = 0;
	litifut_update_fast();
	litifut_finalize_object(&litifut_fork_object);
}
