/* A handler on an alternate stack of 2 KB must survive what the recorder does in it, such
 * as a change of chunk, which needs as much by itself. So all that is more than an event
 * into the chunk that there is runs on a stack of the recorder.
 *
 * Signals are blocked first, and only then the stack is changed: a kernel that sees the
 * stack pointer outside the alternate stack takes that one for free, and the next handler
 * would overwrite the one that is interrupted. So at most one stack is in use for each
 * thread, and a few serve the process. Whoever finds all of them in use maps another.
 *
 * What is done before the stack is changed is split into functions that take little of the
 * program's (tests/e2e/recorder-stack.sh). */

#include "tracer/recorder/own_stack.h"

#include <stddef.h>
#include <stdint.h>

#include "tracer/port/linux/confine.h"
#include "tracer/port/linux/memory.h"
#include "tracer/port/linux/system.h"
#include "tracer/recorder/shared.h"
#include "tracer/recorder/stacks.h"
#include "tracer/recorder/state.h"

/* stack.S */
void litifut_call_on_stack(void (*run)(void *argument), void *argument, uint32_t top)
	__attribute__((visibility("hidden")));

/* A bit for each that is in use. Those that other threads of the parent use at a fork stay
 * marked in the child: which these are is not known, and there are others. */
static uint32_t litifut_own_stacks_busy;

bool litifut_own_stacks_start(void)
{
	long room = litifut_map_memory(LITIFUT_OWN_STACKS * LITIFUT_OWN_STACK_BYTES);

	if (!litifut_failed(room))
		litifut_recorder.own_stacks = (uint32_t)room;
	return !litifut_failed(room);
}

static __attribute__((noinline)) uint32_t litifut_own_stack_map(void)
{
	long room = litifut_map(0, LITIFUT_OWN_STACK_BYTES, PROT_READ | PROT_WRITE, -1, 0);

	return litifut_failed(room) ? 0 : (uint32_t)room;
}

/* The lowest address of a stack that is not in use; 0 without memory. Before the process is
 * set up there is none, and it is not known how words are exchanged. */
static __attribute__((noinline)) uint32_t litifut_own_stack_take(void)
{
	const struct litifut_recorder *r = &litifut_recorder;
	uint32_t stack = r->own_stacks;
	uint32_t busy;
	uint32_t bit;

	if (!stack)
		return litifut_own_stack_map();
	do {
		busy = *(volatile uint32_t *)&litifut_own_stacks_busy;
		bit = ~busy & (busy + 1);
		if (bit >> LITIFUT_OWN_STACKS)
			return litifut_own_stack_map();
	} while (!litifut_port_compare_exchange(r->features, &litifut_own_stacks_busy, busy,
						busy | bit));
	for (; bit > 1; bit >>= 1)
		stack += LITIFUT_OWN_STACK_BYTES;
	return stack;
}

static __attribute__((noinline)) void litifut_own_stack_give(uint32_t stack)
{
	uint32_t number = litifut_own_stack_of(stack);

	if (number >= LITIFUT_OWN_STACKS) {
		litifut_unmap(stack, LITIFUT_OWN_STACK_BYTES);
		return;
	}
	litifut_port_barrier(litifut_recorder.features);
	litifut_add(&litifut_own_stacks_busy, -(1u << number));
}

static inline void litifut_signals_set(uint32_t how, const struct litifut_signals *set,
				       struct litifut_signals *old)
{
	litifut_open_gate_call4(__NR_rt_sigprocmask, (long)how, (long)set, (long)old,
				LITIFUT_SIGSET_BYTES);
}

void litifut_on_own_stack(void (*run)(void *argument), void *argument)
{
	struct litifut_signals signals;
	uint32_t stack;

	/* where signals can't be blocked, the stack stays as it is */
	if (litifut_system_calls_forbidden ||
	    litifut_own_stack_of((uint32_t)&signals) < LITIFUT_OWN_STACKS) {
		run(argument);
		return;
	}
	litifut_signals_set(SIG_BLOCK, &litifut_all_signals, &signals);
	stack = litifut_own_stack_take();
	if (stack) {
		*(uint32_t *)stack = (uint32_t)&signals;
		litifut_call_on_stack(run, argument, stack + LITIFUT_OWN_STACK_BYTES);
		litifut_own_stack_give(stack);
	} else {
		run(argument);
	}
	/* also when another thread has confined the process meanwhile */
	litifut_signals_set(SIG_SETMASK, &signals, NULL);
	litifut_confine_now();
}
