/* Children that are made without libc's fork handlers: by vfork, _Fork, clone and
 * syscall. The child has the thread pointer of the thread that made it, and with it
 * the cursor of its thunks and a libc id word that looks right, or looks like
 * nothing; only a system call for each event would tell the two apart. So the
 * rewriter lists where such functions are called in a module, and lets these calls go
 * the long way. It ends here, just before the child is made: the thread is disarmed
 * and no longer known by its pointer, so that each next event in either process
 * takes the long way, which asks the kernel where it is.
 *
 * In the parent that ends when the function that made the child makes its next call:
 * a signal handler may come between, even before there is a child, but it runs
 * further down the stack. */

#include "tracer/port/linux/spawn.h"

#include <stddef.h>

#include "tracer/port/linux/guest.h"
#include "tracer/port/linux/loaded.h"
#include "tracer/port/linux/system.h"
#include "tracer/recorder/armed.h"
#include "tracer/recorder/state.h"
#include "tracer/recorder/text.h"
#include "tracer/recorder/thread.h"
#include "tracer/recorder/threads.h"

#define LITIFUT_LIBC_SPAWNERS 4

/* Run-time addresses in libc of those that a call through the GOT or a pointer leads
 * to; 0: none. */
static uint32_t litifut_libc_spawners[LITIFUT_LIBC_SPAWNERS];
static uint32_t litifut_libc_spawners_known;

void litifut_spawn_module(struct litifut_module *module)
{
	static const char *const litifut_names[LITIFUT_LIBC_SPAWNERS] = {"vfork", "_Fork", "clone",
									 "syscall"};
	uint32_t found[LITIFUT_LIBC_SPAWNERS];

	if (!(module->flags & LITIFUT_MODULE_SPAWNS))
		return;
	/* Several threads may do it, and find the same. */
	if (!litifut_libc_spawners_known &&
	    litifut_libc_functions(litifut_names, found, LITIFUT_LIBC_SPAWNERS)) {
		litifut_copy(litifut_libc_spawners, found, sizeof(found));
		litifut_libc_spawners_known = 1;
	}
	for (uint32_t i = 0; i < LITIFUT_LIBC_SPAWNERS; i++)
		if (litifut_libc_spawners[i])
			module->spawner_filter |=
				LITIFUT_SPAWNER_FILTER_BIT(litifut_libc_spawners[i]);
}

bool litifut_spawn_is(const struct litifut_call *call)
{
	const struct litifut_module *module = call->module;
	uint32_t callee = call->callee & ~1u;
	uint32_t bias = (uint32_t)module - module->link_address;

	for (uint32_t i = 0; i < LITIFUT_MODULE_SPAWNERS && module->spawners[i]; i++)
		if (callee == module->spawners[i] + bias)
			return true;
	for (uint32_t i = 0; i < LITIFUT_LIBC_SPAWNERS; i++)
		if (callee == (litifut_libc_spawners[i] & ~1u))
			return callee != 0;
	return false;
}

void litifut_spawn_begin(const struct litifut_call *call)
{
	struct litifut_recorder *r = &litifut_recorder;
	struct litifut_thread *thread;

	/* A guest that makes a child of its own is held already. */
	if (r->phase != LITIFUT_PHASE_READY || r->file.process != litifut_process_id())
		return;
	thread = litifut_thread_find(litifut_thread_id());
	if (!thread)
		return;
	thread->spawn_stack = call->stack_pointer;
	thread->spawn_pointer = litifut_port_thread_pointer(r->features);
	thread->hold |= LITIFUT_HOLD_SPAWN;
	litifut_thread_disarm(thread);
	thread->pointer = 0;
	/* In a copy of the memory, the kernel empties the table: see
	 * litifut_process_forked(). */
	r->threads[litifut_thread_slot(thread->spawn_pointer)] = thread;
}

void litifut_spawn_end(struct litifut_thread *thread, const struct litifut_call *call)
{
	if (call->stack_pointer < thread->spawn_stack)
		return;
	litifut_guests_leave(thread, 0);
	thread->hold &= ~(uint32_t)LITIFUT_HOLD_SPAWN;
}
