/* When the calls began whose functions have a trigger on the time that a call takes.
 *
 * A call is known by its stack pointer, which is the same when it returns. Two calls that are open
 * at once have different ones, whatever threads, signal handlers, coroutines or activations of a
 * recursive function they belong to; so a slot is written only by the code that runs on the stack
 * at its address, and needs no lock. A call that is left by longjmp() or an exception leaves its
 * slot behind, until another one is made with that stack pointer: it is found first, and takes the
 * slot. So there are never more slots in use than different stack pointers at such calls.
 *
 * The time is asked for at these calls alone, so the trace needs no clock. */

#include "tracer/recorder/long_calls.h"

#include <stddef.h>

#include "tracer/port/linux/memory.h"
#include "tracer/port/linux/system.h"
#include "tracer/recorder/clock.h"
#include "tracer/recorder/shared.h"
#include "tracer/recorder/state.h"

struct litifut_long_call {
	uint32_t stack_pointer; /* 0: the slot is free */
	uint32_t reserved;
	uint64_t begin;
};

/* Tables of slots, each twice as large as the one before it, mapped when a slot is needed: those of
 * a page and more. A call stands in one of LITIFUT_LONG_WINDOW slots of one of them. */
#define LITIFUT_LONG_TABLES 12
#define LITIFUT_LONG_SLOTS_SHIFT 8
#define LITIFUT_LONG_WINDOW 8

static uint32_t litifut_long_tables[LITIFUT_LONG_TABLES]; /* addresses; 0: not mapped yet */

/* Maps table `number`, unless another thread or a signal handler has done so. */
static bool litifut_long_map(uint32_t number)
{
	uint32_t bytes = sizeof(struct litifut_long_call) << (LITIFUT_LONG_SLOTS_SHIFT + number);
	long room = litifut_map_memory(bytes);

	if (litifut_failed(room))
		return false;
	if (!litifut_exchange(&litifut_long_tables[number], 0, (uint32_t)room))
		litifut_unmap((uint32_t)room, bytes);
	return true;
}

/* The slot that has this stack pointer; with `take` a free one, which gets it. NULL: there is
 * none. */
static LITIFUT_COLD struct litifut_long_call *litifut_long_slot(uint32_t stack_pointer, bool take)
{
	/* its high bits depend on all bits of the address */
	uint32_t hash = (stack_pointer >> 2) * 0x9e3779b1u;
	uint32_t bits = LITIFUT_LONG_SLOTS_SHIFT;

	for (uint32_t number = 0; number < LITIFUT_LONG_TABLES; number++, bits++) {
		volatile uint32_t *table = &litifut_long_tables[number];

		if (!*table && !(take && litifut_long_map(number)))
			break;
		for (uint32_t i = 0; i < LITIFUT_LONG_WINDOW; i++) {
			struct litifut_long_call *slot =
				(struct litifut_long_call *)*table +
				(((hash >> (32 - bits)) + i) & ((1u << bits) - 1));

			if (take ? litifut_exchange(&slot->stack_pointer, 0, stack_pointer)
				 : slot->stack_pointer == stack_pointer)
				return slot;
		}
	}
	return NULL;
}

static uint64_t litifut_long_now(void)
{
	return litifut_recorder.clock == LITIFUT_CLOCK_PAGE ? litifut_clock_now()
							    : litifut_nanoseconds(1);
}

void litifut_long_call_begin(uint32_t stack_pointer)
{
	struct litifut_long_call *slot = litifut_long_slot(stack_pointer, false);

	if (!slot)
		slot = litifut_long_slot(stack_pointer, true);
	if (slot)
		slot->begin = litifut_long_now();
}

uint64_t litifut_long_call_end(uint32_t stack_pointer)
{
	struct litifut_long_call *slot = litifut_long_slot(stack_pointer, false);
	uint64_t took = 0;

	if (slot) {
		took = litifut_long_now() - slot->begin;
		*(volatile uint32_t *)&slot->stack_pointer = 0;
	}
	return took;
}
