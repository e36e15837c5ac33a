/* Calls that change what the recorder may do.
 *
 * Children that are made without libc's fork handlers: by vfork, _Fork, clone and
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
 * further down the stack.
 *
 * A clone() that shares the memory, and does not wait, may leave a thread behind that has this
 * thread pointer as long as it runs. Then the thread that made it is never known by its pointer
 * again.
 *
 * One that gives its child a thread pointer of the program, and a call by which a thread changes
 * its own, ends the time of thunks: see withdraw.c.
 *
 * With LITIFUT_MODE=paths no calls are recorded. Code before such a call says that it comes, and
 * the recorder gets a call without a callee (LITIFUT_BITS_SPAWNS), but with arguments.
 *
 * The same list has the functions by which a process gives up system calls (seccomp). What
 * such a call asks for stands in its arguments; see confine.c for what is done before it.
 *
 * And those that end the program without its destructors, or execute another one. Where chunks
 * are written and not mapped, what they hold is written before that. */

#include "tracer/port/linux/spawn.h"

#include <litifut/trace_format.h>
#include <stddef.h>

#include "argument_registers.h"
#include "tracer/port/linux/confine.h"
#include "tracer/port/linux/guest.h"
#include "tracer/port/linux/loaded.h"
#include "tracer/port/linux/memory.h"
#include "tracer/port/linux/system.h"
#include "tracer/port/linux/withdraw.h"
#include "tracer/recorder/armed.h"
#include "tracer/recorder/state.h"
#include "tracer/recorder/thread.h"
#include "tracer/recorder/threads.h"
#include "tracer/sink/chunks.h"
#include "tracer/sink/sink.h"

/* In libc; what each does follows from its place, see litifut_libc_kind(). Of two names for the
 * same function there is one. */
#define LITIFUT_LIBC_NAMES                                                                         \
	"vfork\0_Fork\0clone\0syscall\0prctl\0_exit\0quick_exit\0abort\0"                          \
	"execl\0execle\0execlp\0execv\0execve\0execvp\0execvpe"
#define LITIFUT_LIBC_SPAWNERS 15
#define LITIFUT_LIBC_PRCTL 4 /* which of them that is */

/* What a process may record after it has given up system calls, unless it said so before
 * (LITIFUT_SYSCALLS). */
#define LITIFUT_CONFINED_KB 1024

/* Of linux/prctl.h and the like: what gives them up. */
#define LITIFUT_PR_SET_SECCOMP 22

/* No code stands below; numbers of system calls and options of prctl() are lower, but for one that
 * no program gives together with a third argument (PR_SET_PTRACER). */
#define LITIFUT_LEAST_FUNCTION 0x10000u

/* Of linux/sched.h. */
#define LITIFUT_CLONE_SIGNAL 0xffu
#define LITIFUT_CLONE_VM 0x100u
#define LITIFUT_CLONE_VFORK 0x4000u
#define LITIFUT_CLONE_SETTLS 0x80000u
#define LITIFUT_CLONE_SPACES 0x7e020000u /* of files, names, users and so on */

/* Run-time addresses of those that a call through the GOT or a pointer leads to; 0: none. */
static uint32_t litifut_libc_spawners[LITIFUT_LIBC_SPAWNERS + 1];
/* The last of them: seccomp_load() of libseccomp. */
#define LITIFUT_FILTER_LOADER LITIFUT_LIBC_SPAWNERS

enum litifut_spawner {
	LITIFUT_SPAWNER_NONE,
	LITIFUT_SPAWNER_CHILD,    /* vfork, _Fork, clone, syscall */
	LITIFUT_SPAWNER_CONFINES, /* prctl, seccomp_load */
	LITIFUT_SPAWNER_ENDS      /* _exit, execve and the like */
};

static enum litifut_spawner litifut_libc_kind(uint32_t index)
{
	if (index < LITIFUT_LIBC_PRCTL)
		return LITIFUT_SPAWNER_CHILD;
	return index == LITIFUT_LIBC_PRCTL || index == LITIFUT_FILTER_LOADER
		       ? LITIFUT_SPAWNER_CONFINES
		       : LITIFUT_SPAWNER_ENDS;
}

bool litifut_spawn_asks(const struct litifut_module *module)
{
	return module->flags & (litifut_recorder.file.sink->flags & LITIFUT_TRACE_WRITE
					? LITIFUT_MODULE_SPAWNS | LITIFUT_MODULE_ENDS
					: LITIFUT_MODULE_SPAWNS);
}

void litifut_spawn_module(struct litifut_module *module)
{
	if (!litifut_spawn_asks(module))
		return;
	/* Several threads may do it. They find the same, and write each address once. */
	litifut_functions_of(LITIFUT_LOADED_LIBC, LITIFUT_LIBC_NAMES, litifut_libc_spawners,
			     LITIFUT_LIBC_SPAWNERS);
	litifut_libc_spawners[LITIFUT_FILTER_LOADER] =
		litifut_library_function("libseccomp.so", "seccomp_load");
	for (uint32_t i = 0; i <= LITIFUT_FILTER_LOADER; i++)
		if (litifut_libc_spawners[i])
			module->spawner_filter |=
				LITIFUT_SPAWNER_FILTER_BIT(litifut_libc_spawners[i]);
}

static enum litifut_spawner litifut_spawner(const struct litifut_call *call)
{
	const struct litifut_module *module = call->module;
	uint32_t callee = call->callee & ~1u;
	uint32_t bias = (uint32_t)module - module->link_address;

	for (uint32_t i = 0; i < LITIFUT_MODULE_SPAWNERS && module->spawners[i]; i++)
		if (callee == (module->spawners[i] & ~1u) + bias)
			return module->enders >> i & 1 ? LITIFUT_SPAWNER_ENDS
			       : module->spawners[i] & LITIFUT_SPAWNER_CONFINES_BIT
				       ? LITIFUT_SPAWNER_CONFINES
				       : LITIFUT_SPAWNER_CHILD;
	for (uint32_t i = 0; callee && i <= LITIFUT_FILTER_LOADER; i++)
		if (callee == (litifut_libc_spawners[i] & ~1u))
			return litifut_libc_kind(i);
	return LITIFUT_SPAWNER_NONE;
}

bool litifut_spawn_is(const struct litifut_call *call)
{
	return litifut_spawner(call) != LITIFUT_SPAWNER_NONE;
}

/* Does it take system calls away? prctl() with an argument, syscall() of the same or of
 * seccomp(), and seccomp_load(), whose argument is a pointer as no number of prctl() is. A
 * function that makes children may have the same in its registers by chance, and then no
 * harm is done but that less can be recorded. */
static bool litifut_takes_calls(const uint32_t *arguments, enum litifut_spawner kind)
{
	if (!arguments)
		return false;
	/* of a call without a callee it may be any of the first three; a mode follows */
	if (kind == LITIFUT_SPAWNER_NONE && arguments[0] == LITIFUT_PR_SET_SECCOMP &&
	    arguments[1] - 1 < 2)
		return true;
	if (kind == LITIFUT_SPAWNER_CONFINES)
		return arguments[0] == LITIFUT_PR_SET_SECCOMP ||
		       (arguments[0] >= 4096 && !(arguments[0] & 3));
	return arguments[0] == LITIFUT_PORT_SECCOMP ||
	       (arguments[0] == __NR_prctl && arguments[1] == LITIFUT_PR_SET_SECCOMP);
}

/* What a clone() asks for. */
struct litifut_clone {
	uint32_t flags;
	uint32_t stack;
	uint32_t id_place; /* where the kernel is to put the id of the child */
	uint32_t pointer;  /* the thread pointer of the child */
};

/* Argument `number` of a function; those from the fifth on are on the stack. */
static uint32_t litifut_argument(const struct litifut_call *call, uint32_t number)
{
	if (number < LITIFUT_PORT_REGISTER_ARGUMENTS)
		return call->arguments[number];
	return *(volatile uint32_t *)(call->stack_pointer + LITIFUT_PORT_STACK_ARGUMENT(number));
}

/* Is it a clone(), by its name or by syscall()? The first argument of clone() is a function. The
 * registers of vfork() may look like it by chance. */
static bool litifut_is_clone(const struct litifut_call *call, struct litifut_clone *asked)
{
	uint32_t first;

	if (!call->arguments)
		return false;
	if (call->arguments[0] == LITIFUT_PORT_CLONE3) {
		const uint32_t at = call->arguments[1];
		/* the low halves of struct clone_args */
		const volatile uint32_t *words =
			(const volatile uint32_t *)at + (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);

		if (!litifut_readable(at & ~7u) || !litifut_readable((at + 60) & ~7u))
			return false;
		*asked = (struct litifut_clone){words[0], words[10], words[6], words[14]};
		return true;
	}
	if (call->arguments[0] == __NR_clone)
		first = 1;
	else if (call->arguments[0] >= LITIFUT_LEAST_FUNCTION)
		first = 2;
	else
		return false;
	/* clone(function, stack, flags, argument, id place, pointer), and of the system call:
	 * flags, stack, id place, pointer */
	asked->flags = call->arguments[first];
	asked->stack = call->arguments[first == 1 ? 2 : 1];
	asked->id_place = litifut_argument(call, first == 1 ? 3 : 4);
	asked->pointer = litifut_argument(call, first == 1 ? 4 : 5);
	return true;
}

/* Does its child share the memory and the thread pointer and run beside this thread? If it is none,
 * no harm is done but that the thread's events take the long way from then on. */
static bool litifut_shares_pointer(const struct litifut_clone *asked)
{
	return (asked->flags & (LITIFUT_CLONE_VM | LITIFUT_CLONE_VFORK | LITIFUT_CLONE_SETTLS)) ==
	       LITIFUT_CLONE_VM;
}

/* Does its child share the memory, with a thread pointer that is not libc's? Static programs have
 * the clone() that makes libc's threads: there the id goes to where libc has it, and the vector is
 * there already. If it is none, all events of the process take the long way from then on, so that
 * it must look like one: with a stack, no separate namespaces, and a signal that there is. */
static bool litifut_makes_pointer(const struct litifut_clone *asked)
{
	const struct litifut_recorder *r = &litifut_recorder;
	const uint32_t end = asked->pointer + LITIFUT_PORT_THREAD_STRUCTURE_END;

	if ((asked->flags & (LITIFUT_CLONE_VM | LITIFUT_CLONE_SETTLS | LITIFUT_CLONE_SPACES)) !=
		    (LITIFUT_CLONE_VM | LITIFUT_CLONE_SETTLS) ||
	    (asked->flags & LITIFUT_CLONE_SIGNAL) > LITIFUT_SIGSET_BYTES * 8 || !asked->stack ||
	    asked->stack & 3)
		return false;
	return (r->calibrated ? asked->id_place != asked->pointer + (uint32_t)r->id_offset
			      : end - asked->id_place > LITIFUT_ID_SEARCH_BYTES) ||
	       !litifut_cursor_word(asked->pointer);
}

/* The same of syscall(), by which a thread changes its own. */
static bool litifut_changes_pointer(const struct litifut_call *call)
{
	return call->arguments && call->arguments[0] == LITIFUT_PORT_SET_POINTER;
}

/* Is the process about to end? syscall() may do that as well. */
static bool litifut_ends(const struct litifut_call *call, enum litifut_spawner kind)
{
	return kind == LITIFUT_SPAWNER_ENDS || (kind == LITIFUT_SPAWNER_CHILD && call->arguments &&
						call->arguments[0] == __NR_exit_group);
}

void litifut_spawn_begin(const struct litifut_call *call)
{
	struct litifut_recorder *r = &litifut_recorder;
	struct litifut_thread *thread;
	struct litifut_clone asked = {.flags = 0};
	enum litifut_spawner kind;

	kind = litifut_spawner(call);
	if (litifut_takes_calls(call->arguments, kind)) {
		litifut_confine(LITIFUT_CONFINED_KB);
		return;
	}
	if (kind == LITIFUT_SPAWNER_CONFINES)
		return;
	if (kind != LITIFUT_SPAWNER_ENDS &&
	    (litifut_changes_pointer(call) ||
	     (litifut_is_clone(call, &asked) && litifut_makes_pointer(&asked))))
		litifut_thunks_withdraw();
	if (litifut_system_calls_forbidden) {
		if (kind == LITIFUT_SPAWNER_CHILD)
			litifut_confined_spawns();
		return;
	}
	/* A guest that makes a child of its own is held already. */
	if (r->phase != LITIFUT_PHASE_READY || r->file.process != litifut_process_id())
		return;
	if (litifut_ends(call, kind)) {
		litifut_save_all();
		if (kind == LITIFUT_SPAWNER_ENDS)
			return;
	}
	thread = litifut_thread_find(litifut_thread_id());
	if (thread && litifut_shares_pointer(&asked))
		thread->hold |= LITIFUT_HOLD_POINTER;
	/* A handler that interrupts such a call may make a child as well; the call that it
	 * interrupts is the one that has to end. */
	if (!thread ||
	    (thread->hold & LITIFUT_HOLD_SPAWN && call->stack_pointer < thread->spawn_stack))
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
