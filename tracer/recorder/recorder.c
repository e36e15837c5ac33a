/* The default recorder: one call becomes one to four words in the calling
 * thread's chunk of the trace file, and more where its arguments are recorded. docs/recorder.md
 * argues why this is safe against signals, threads and fork. */

#include <litifut/thunk_abi.h>
#include <stddef.h>

#include "tracer/port/linux/confine.h"
#include "tracer/port/linux/guest.h"
#include "tracer/port/linux/spawn.h"
#include "tracer/port/linux/system.h"
#include "tracer/recorder/arguments.h"
#include "tracer/recorder/armed.h"
#include "tracer/recorder/bits.h"
#include "tracer/recorder/bloom.h"
#include "tracer/recorder/clock.h"
#include "tracer/recorder/control.h"
#include "tracer/recorder/finish.h"
#include "tracer/recorder/long_calls.h"
#include "tracer/recorder/marks.h"
#include "tracer/recorder/modules.h"
#include "tracer/recorder/own_stack.h"
#include "tracer/recorder/process.h"
#include "tracer/recorder/scratch.h"
#include "tracer/recorder/shared.h"
#include "tracer/recorder/state.h"
#include "tracer/recorder/switch.h"
#include "tracer/recorder/table_words.h"
#include "tracer/recorder/thread.h"
#include "tracer/recorder/threads.h"
#include "tracer/recorder/words.h"

/* So many calls of a child without a trace are counted one by one. It may be a short one, which
 * nothing counts at its end. */
#define LITIFUT_ORPHAN_EXACT 4096

struct litifut_recorder litifut_recorder = {.file = {.descriptor = -1},
					    .thunk_clock = LITIFUT_CLOCK_UNSET};

/* Adds the clock word to an event, and puts the whole clock before it when its
 * low bits would not do. */
static uint32_t litifut_stamp(struct litifut_thread *thread, uint32_t *words, uint32_t count)
{
	uint64_t now = litifut_clock_now();
	uint32_t high = (uint32_t)(now >> 30);
	uint32_t time[3];

	if (high != thread->time_high) {
		litifut_time_words(now, time);
		/* only once it is there: a signal handler may need its own */
		if (litifut_put(thread, time, 3))
			thread->time_high = high;
	}
	return litifut_stamp_words(now, words, count);
}

/* A call with arguments: they and the event are put at once, so that no signal handler can come
 * between. */
static inline __attribute__((always_inline)) void
litifut_put_with_arguments(struct litifut_thread *thread, const struct litifut_call *call,
			   const struct litifut_argument_site *site, uint32_t *words)
{
	uint32_t before = litifut_argument_words(call, site, words);
	uint32_t count = litifut_event_words(call, words + before);

	if (litifut_recorder.clock != LITIFUT_CLOCK_NONE)
		count = litifut_stamp(thread, words + before, count);
	if (!litifut_put(thread, words, before + count))
		litifut_lose(1);
}

static LITIFUT_COLD void litifut_record_with_arguments(struct litifut_thread *thread,
						       const struct litifut_call *call,
						       const struct litifut_argument_site *site)
{
	uint32_t words[LITIFUT_ARGUMENT_WORDS + 4];

	litifut_put_with_arguments(thread, call, site, words);
}

/* The same on the program's stack, where a process may make no system calls. Strings are not read
 * then. */
static LITIFUT_COLD void litifut_record_with_values(struct litifut_thread *thread,
						    const struct litifut_call *call,
						    const struct litifut_argument_site *site)
{
	uint32_t words[LITIFUT_ARGUMENT_WORDS_BARE + 4];

	litifut_put_with_arguments(thread, call, site, words);
}

static void litifut_record_in(struct litifut_thread *thread, const struct litifut_call *call)
{
	const struct litifut_argument_site *site =
		LITIFUT_WITH_ARGUMENTS ? litifut_arguments_of(call) : NULL;
	uint32_t words[4];
	uint32_t count;

	if (litifut_recorder.bloom && litifut_bloom_seen(call->return_address, call->callee))
		return;
	if (LITIFUT_WITH_ARGUMENTS && site) {
		if (litifut_system_calls_forbidden)
			litifut_record_with_values(thread, call, site);
		else
			litifut_record_with_arguments(thread, call, site);
		return;
	}
	if (litifut_is_table()) {
		uint64_t now = litifut_clock_now();
		uint32_t time[3];

		if ((uint32_t)(now >> 30) != thread->time_high) {
			litifut_time_words(now, time);
			if (litifut_put(thread, time, 3))
				thread->time_high = (uint32_t)(now >> 30);
		}
		count = litifut_table_words(call, now, words);
		if (!litifut_put(thread, words, count))
			litifut_lose(1);
		return;
	}
	count = litifut_event_words(call, words);
	if (litifut_recorder.clock != LITIFUT_CLOCK_NONE)
		count = litifut_stamp(thread, words, count);
	if (!litifut_put(thread, words, count))
		litifut_lose(1);
}

/* An event that began at `from` has come the long way: if a full chunk was exchanged, or arguments
 * were read, that has taken many times what an event does. */
static LITIFUT_COLD void litifut_put_taken(struct litifut_thread *thread, uint64_t from)
{
	const uint64_t took = litifut_clock_now() - from;
	const uint32_t words[2] = {LITIFUT_CONTROL_WORD(LITIFUT_WORD_TAKEN, 1),
				   took < UINT32_MAX ? (uint32_t)took : UINT32_MAX};

	if (words[1] > litifut_recorder.event_cost >> 3)
		litifut_put(thread, words, 2);
}

/* What litifut_mark_pin() takes does not belong to the program's time either. */
static LITIFUT_COLD void litifut_look_at_marks(struct litifut_thread *thread)
{
	const uint64_t from = litifut_clock_now();

	if (litifut_marks_look(thread) && !litifut_recorder.settings.raw)
		litifut_put_taken(thread, from);
}

/* A call of a module of another family than the process. */
static void litifut_record_foreign(const struct litifut_call *call)
{
	if (!litifut_is_return(call))
		litifut_add(&litifut_recorder.file.header->foreign_calls, 1);
}

/* Everything that is not usual: the first event of a process, a thread, a
 * module or an epoch, a thread that cannot be known by its pointer, and events
 * while recording is off. */
static void litifut_record_slowly(const struct litifut_call *call)
{
	struct litifut_recorder *r = &litifut_recorder;
	struct litifut_thread *thread;

	if (!litifut_process_ready(call->module)) {
		if (!litifut_elsewhere(LITIFUT_ELSEWHERE_RECORD, call) &&
		    (litifut_is_bits() || !litifut_guest_record(call)))
			litifut_lose(1);
		return;
	}
	litifut_control_look();
	if (!call->module->serial)
		litifut_module_announce(call->module);
	if (call->module->met == -2) {
		if (r->recording)
			litifut_record_foreign(call);
		return;
	}
	thread = litifut_thread_find(litifut_thread_id());
	if (!thread) {
		litifut_lose(1);
		return;
	}
	if (thread->hold & LITIFUT_HOLD_SPAWN)
		litifut_spawn_end(thread, call);
	if (!litifut_thread_records(thread)) {
		if (r->recording)
			litifut_lose(1);
	} else if (litifut_is_bits()) {
		litifut_bits_record(thread, call);
	} else {
		if (thread->epoch != r->epoch) {
			uint32_t words[2] = {LITIFUT_CONTROL_WORD(LITIFUT_WORD_EPOCH, 1), r->epoch};

			if (litifut_put(thread, words, 2))
				thread->epoch = words[1];
		}
		if (LITIFUT_WITH_MARKS)
			litifut_look_at_marks(thread);
		const uint64_t from = r->event_cost ? litifut_clock_now() : 0;

		litifut_record_in(thread, call);
		if (r->event_cost)
			litifut_put_taken(thread, from);
	}
	if (r->full && !*litifut_thread_cursor(thread) &&
	    (!r->orphans || *r->orphans >= LITIFUT_ORPHAN_EXACT))
		litifut_scratch_enter(thread);
	if (r->fast == LITIFUT_FAST_THUNKS || (litifut_is_bits() && r->thunks && !r->thunks_differ))
		litifut_thread_arm(thread);
	/* thunks need the kernel once more, when it is known that the process has them */
	if (r->settings.no_calls && (r->thunks || call->module->engine != LITIFUT_ENGINE_THUNK))
		litifut_confine_when_due();
}

static void litifut_record_argument(void *argument)
{
	const struct litifut_call *call = (const struct litifut_call *)argument;

	if (litifut_is_bits() && (call->stack_pointer & 3) == LITIFUT_BITS_SPAWNS) {
		const struct litifut_call spawn = {
			.stack_pointer = call->stack_pointer - LITIFUT_BITS_SPAWNS,
			.module = call->module,
			.arguments = call->arguments,
		};

		litifut_spawn_begin(&spawn);
		return;
	}
	litifut_record_slowly(call);
}

/* A call with arguments or triggers. */
static void litifut_record_chosen(void *argument)
{
	const struct litifut_call *call = (const struct litifut_call *)argument;
	uint32_t due = litifut_triggers_of(call);

	if (!litifut_process_ready(call->module))
		due = 0;
	if (due & 1u << LITIFUT_TRIGGER_START)
		litifut_start_recording(NULL);
	if (litifut_recorder.recording || litifut_recorder.phase != LITIFUT_PHASE_READY)
		litifut_record_slowly(call);
	if (due & 1u << LITIFUT_TRIGGER_STOP)
		litifut_stop_recording(NULL);
	if (due & 1u << LITIFUT_TRIGGER_SNAPSHOT)
		litifut_trace_snapshot();
	if (due & LITIFUT_TRIGGER_TIMED)
		litifut_long_call_begin(call->stack_pointer);
}

/* The same of a call that makes a child. */
static void litifut_record_spawn(void *call)
{
	litifut_record_slowly(call);
	litifut_spawn_begin(call);
}

/* A call that is not recorded at all; asked before anything costs more. */
static bool litifut_record_never(void)
{
	const struct litifut_recorder *r = &litifut_recorder;

	if (r->phase == LITIFUT_PHASE_OFF && r->orphans)
		litifut_add(r->orphans, 1);
	return r->phase == LITIFUT_PHASE_OFF ||
	       (r->phase == LITIFUT_PHASE_READY && !r->recording && !r->fast && !litifut_is_bits());
}

static LITIFUT_COLD void litifut_record_on_own_stack(const struct litifut_call *call)
{
	if (!litifut_record_never())
		litifut_on_own_stack(litifut_record_argument, (void *)call);
}

/* The same for a table; see below. */
static bool litifut_record_table_quickly(struct litifut_port_features features,
					 const struct litifut_thread *thread, uint32_t *cursor,
					 const struct litifut_call *call)
{
	const struct litifut_recorder *r = &litifut_recorder;
	uint32_t at = *(volatile uint32_t *)cursor;
	uint32_t words[4];
	uint64_t now = litifut_clock_now();
	uint32_t bytes = 4 * litifut_table_words(call, now, words);

	if ((uint32_t)(now >> 30) != thread->time_high || !(at & r->chunk_mask) ||
	    (at & r->chunk_mask) + bytes > r->chunk_mask + 1 ||
	    !litifut_port_compare_exchange(features, cursor, at, at + bytes))
		return false;
	for (uint32_t i = 0; i < bytes / 4; i++)
		((volatile uint32_t *)at)[i] = words[i];
	return true;
}

/* What litifut_record_in() does, at the first attempt and into the chunk that
 * there is; else nothing, and false. */
static inline __attribute__((always_inline)) bool
litifut_record_quickly(struct litifut_port_features features, struct litifut_thread *thread,
		       uint32_t *cursor, const struct litifut_call *call)
{
	const struct litifut_recorder *r = &litifut_recorder;
	bool timed = r->clock != LITIFUT_CLOCK_NONE;
	uint32_t words = (call->kind == LITIFUT_SITE_DIRECT ? 1 : 3) + timed;
	volatile uint32_t *place;
	uint32_t at = *(volatile uint32_t *)cursor;
	uint32_t low = 0;

	if (timed && litifut_is_table())
		return litifut_record_table_quickly(features, thread, cursor, call);
	/* by far the most frequent event, without the steps it has no use for */
	if (words == 1) {
		if (!(at & r->chunk_mask) ||
		    !litifut_port_compare_exchange(features, cursor, at, at + 4))
			return false;
		*(volatile uint32_t *)at = call->return_address;
		return true;
	}
	if (timed) {
		uint64_t now = litifut_clock_now();

		if ((uint32_t)(now >> 30) != thread->time_high)
			return false;
		if (LITIFUT_WITH_MARKS && now >= litifut_marks_due)
			return false;
		low = (uint32_t)now;
	}
	if (!(at & r->chunk_mask) || (at & r->chunk_mask) + words * 4 > r->chunk_mask + 1 ||
	    !litifut_port_compare_exchange(features, cursor, at, at + words * 4))
		return false;
	place = (volatile uint32_t *)at;
	if (call->kind != LITIFUT_SITE_DIRECT)
		*place++ = litifut_event_control(call, words - 1);
	*place++ = call->return_address;
	if (call->kind != LITIFUT_SITE_DIRECT)
		*place++ = call->callee;
	if (timed)
		*place = low ? low : 1;
	return true;
}

/* Not in place, for what is seldom run. */
static LITIFUT_COLD bool litifut_record_at(struct litifut_thread *thread, uint32_t *cursor,
					   const struct litifut_call *call)
{
	return litifut_record_quickly(litifut_recorder.features, thread, cursor, call);
}

/* A call that a thunk could not store, or for which there is no room in the chunk. */
static LITIFUT_COLD void litifut_record_otherwise(struct litifut_thread *thread,
						  const struct litifut_call *call)
{
	const struct litifut_recorder *r = &litifut_recorder;

	/* a thread that is not armed is to be */
	if (r->fast == LITIFUT_FAST_THUNKS) {
		uint32_t *cursor = litifut_thread_cursor(thread);

		if (cursor != &thread->cursor && litifut_record_at(thread, cursor, call))
			return;
	}
	litifut_record_on_own_stack(call);
}

/* A call of a module that is known, in a process that is set up. A constant for `features`
 * spares the question. */
static inline __attribute__((always_inline)) void
litifut_record_known(struct litifut_port_features features, const struct litifut_call *call,
		     bool in_place)
{
	const struct litifut_recorder *r = &litifut_recorder;
	uint32_t pointer = litifut_port_thread_pointer(features);
	struct litifut_thread *thread = r->threads[litifut_thread_slot(pointer)];

	/* The id word of the calling thread itself: a recycled thread, or a forked
	 * child, has another id in it than the state. Only a pointer that was
	 * seen with a readable one is followed. */
	if (!thread || thread->pointer != pointer ||
	    *(volatile uint32_t *)(pointer + (uint32_t)r->id_offset) != thread->id) {
		litifut_record_on_own_stack(call);
		return;
	}
	if (r->fast == LITIFUT_FAST_WORDS &&
	    (in_place ? litifut_record_quickly(features, thread, &thread->cursor, call)
		      : litifut_record_at(thread, &thread->cursor, call)))
		return;
	if (r->fast == LITIFUT_FAST_LOOKUP)
		litifut_record_in(thread, call);
	else
		litifut_record_otherwise(thread, call);
}

/* A call of a module that makes children, or on a CPU without a thread register. */
static LITIFUT_COLD void litifut_record_asking(const struct litifut_call *call)
{
	litifut_record_known(litifut_recorder.features, call, false);
}

/* A call where something is unusual. */
static LITIFUT_COLD void litifut_record_unusual(const struct litifut_call *call)
{
	if (litifut_elsewhere(LITIFUT_ELSEWHERE_RECORD, call))
		return;
	if (call->module->spawner_filter & LITIFUT_SPAWNER_FILTER_BIT(call->callee) &&
	    litifut_spawn_is(call))
		litifut_on_own_stack(litifut_record_spawn, (void *)call);
	else if (call->module->met == -2 && litifut_recorder.phase == LITIFUT_PHASE_READY &&
		 litifut_recorder.recording)
		litifut_record_foreign(call);
	else if (LITIFUT_WITH_ARGUMENTS && litifut_recorder.phase != LITIFUT_PHASE_OFF &&
		 litifut_arguments_of(call))
		litifut_on_own_stack(litifut_record_chosen, (void *)call);
	else if (!litifut_recorder.fast || !call->module->met)
		litifut_record_on_own_stack(call);
	else
		litifut_record_asking(call);
}

__attribute__((visibility("default"))) void litifut_record_trace(const struct litifut_call *call)
{
	static const struct litifut_port_features litifut_modern = {.modern = true};

	if (__builtin_expect(!litifut_recorder.fast || call->module->met <= 0, 0))
		litifut_record_unusual(call);
	else
		litifut_record_known(litifut_modern, call, true);
}
