/* Which thread is this? Answered without libc: the thread pointer finds the
 * state, and a word that libc and the kernel keep equal to the kernel thread id
 * shows whether the state is still for the same thread. */

#include "tracer/recorder/threads.h"

#include <linux/prctl.h>
#include <stddef.h>

#include "tracer/port/linux/memory.h"
#include "tracer/port/linux/system.h"
#include "tracer/recorder/armed.h"
#include "tracer/recorder/scratch.h"
#include "tracer/recorder/shared.h"
#include "tracer/recorder/state.h"
#include "tracer/recorder/table_words.h"
#include "tracer/recorder/thread.h"
#include "tracer/recorder/words.h"
#include "tracer/sink/chunks.h"

#define LITIFUT_ID_SEARCH_LEAST 16

/* After this many events without a known place of the id it is not looked for
 * at every event any more, but at every power of two. */
#define LITIFUT_CALIBRATION_TRIES 64

/* Where the kernel is to clear the id when the thread ends, which for glibc is
 * the word itself; 0 when the kernel does not say. */
static uint32_t litifut_clear_address(uint32_t id, uint32_t end)
{
	/* a 64-bit kernel may write a pointer of its own size */
	uint32_t answer[4];

	answer[0] = 0;
	answer[1] = 0;
	if (litifut_failed(LITIFUT_CALL2(prctl, PR_GET_TID_ADDRESS, answer)))
		return 0;
	for (int i = 0; i < 2; i++) {
		uint32_t at = answer[i];

		if (at >= end - LITIFUT_ID_SEARCH_BYTES && at < end && !(at & 3) &&
		    litifut_readable(at & ~7u) && *(volatile uint32_t *)at == id)
			return at;
	}
	return 0;
}

/* The word among the eight at `block` that lies before `end` and holds `id`, the highest; 0: none.
 */
static uint32_t litifut_word_in(uint32_t block, uint32_t end, uint32_t id)
{
	const uint32_t page_mask = litifut_recorder.page_bytes - 1;

	for (uint32_t at = block + 28; at >= block; at -= 4)
		/* Before glibc 2.25 the process id is stored behind the thread
		 * id; going down, it would be met first. */
		if (*(volatile uint32_t *)at == id && at <= end - 4 &&
		    (!(at & page_mask) || *(volatile uint32_t *)(at - 4) != id))
			return at;
	return 0;
}

/* Looks for the word that holds `id` in libc's thread structure, from its end down. Most of that is
 * zero. */
static void litifut_calibrate(uint32_t pointer, uint32_t id)
{
	struct litifut_recorder *r = &litifut_recorder;
	uint32_t end = pointer + LITIFUT_PORT_THREAD_STRUCTURE_END;
	uint32_t readable_from = UINT32_MAX;
	uint32_t found = litifut_clear_address(id, end);

	/* Numbers as small as these stand in many places. */
	if (!found && id < LITIFUT_ID_SEARCH_LEAST)
		return;
	for (uint32_t block = (end - 4) & ~31u; !found && block >= end - LITIFUT_ID_SEARCH_BYTES;
	     block -= 32) {
		const uint64_t *pair = (const uint64_t *)block;

		if (block < readable_from) {
			readable_from = block & ~(r->page_bytes - 1);
			if (!litifut_readable(readable_from))
				return;
		}
		if (pair[0] | pair[1] | pair[2] | pair[3])
			found = litifut_word_in(block, end, id);
	}
	if (found) {
		r->id_offset = (int32_t)(found - pointer);
		r->calibrated = 1;
	}
}

/* True when the id word below this thread pointer is known and is right. */
static bool litifut_id_is_known(uint32_t pointer, uint32_t id)
{
	struct litifut_recorder *r = &litifut_recorder;
	uint32_t *word;

	if (!pointer)
		return false;
	if (!r->calibrated) {
		uint32_t events = litifut_add(&r->uncalibrated_events, 1);

		if (events > LITIFUT_CALIBRATION_TRIES && (events & (events - 1)))
			return false;
		litifut_calibrate(pointer, id);
		if (!r->calibrated)
			return false;
	}
	word = (uint32_t *)(pointer + (uint32_t)r->id_offset);
	/* where nothing can be asked, that is where `id` comes from */
	return (litifut_system_calls_forbidden || litifut_readable((uint32_t)word & ~7u)) &&
	       *(volatile uint32_t *)word == id;
}

_Static_assert(sizeof(struct litifut_thread) % 8 == 0, "LDRD of ARMv5 needs its members aligned");

/* A zeroed state out of the pool. Two threads may each map a page for it; the
 * loser's page is given back. */
static struct litifut_thread *litifut_thread_make(void)
{
	struct litifut_recorder *r = &litifut_recorder;

	for (;;) {
		uint32_t at = *(volatile uint32_t *)&r->thread_pool;

		if ((at & (r->page_bytes - 1)) + sizeof(struct litifut_thread) <= r->page_bytes &&
		    at) {
			/* the first in a page starts behind offset 0, at a multiple of 8 */
			if (litifut_exchange(&r->thread_pool, at,
					     at + sizeof(struct litifut_thread)))
				return (struct litifut_thread *)at;
			continue;
		}
		long page = litifut_map_memory(r->page_bytes);

		if (litifut_failed(page))
			return NULL;
		if (!litifut_exchange(&r->thread_pool, at, (uint32_t)page + 8))
			litifut_unmap((uint32_t)page, r->page_bytes);
	}
}

/* Takes over the state of a thread that has ended, so that short threads do not
 * leave a half-empty chunk each. A few are tried, not all: nothing is lost when
 * none of them is free. */
static struct litifut_thread *litifut_thread_take_over(uint32_t id)
{
	struct litifut_recorder *r = &litifut_recorder;
	unsigned tries = 8;

	for (struct litifut_thread *thread = r->thread_list; thread && tries;
	     thread = thread->next) {
		uint32_t old = *(volatile uint32_t *)&thread->id;

		if (old) {
			tries--;
			if (LITIFUT_CALL3(tgkill, r->file.process, old, 0) != -ESRCH)
				continue;
		}
		if (!litifut_exchange(&thread->id, old, id))
			continue;
		thread->pointer = 0;
		thread->epoch = 0;
		thread->stacks = 0;
		thread->hold = 0;
		thread->guest = NULL;
		litifut_scratch_drop(thread);
		thread->lost = 0;
		if (thread->armed) {
			thread->armed = 0;
			if (!thread->cursor && thread->chunk)
				thread->cursor = litifut_cursor_recover(thread);
		}
		if (thread->cursor & r->chunk_mask || (thread->cursor && litifut_is_table())) {
			uint32_t words[2] = {LITIFUT_CONTROL_WORD(LITIFUT_WORD_THREAD, 1), id};

			litifut_put(thread, words, 2);
		}
		return thread;
	}
	return NULL;
}

static struct litifut_thread *litifut_thread_add(uint32_t id)
{
	struct litifut_recorder *r = &litifut_recorder;
	struct litifut_thread *thread = litifut_thread_make();
	struct litifut_thread *head;

	if (!thread)
		return NULL;
	thread->id = id;
	thread->epoch = 0; /* a reader starts there: a later one comes with the first event */
	do {
		head = *(struct litifut_thread *volatile *)&r->thread_list;
		thread->next = head;
		litifut_port_barrier(r->features);
	} while (!litifut_exchange((uint32_t *)&r->thread_list, (uint32_t)head, (uint32_t)thread));
	return thread;
}

struct litifut_thread *litifut_thread_find(uint32_t id)
{
	struct litifut_recorder *r = &litifut_recorder;
	uint32_t pointer = litifut_port_thread_pointer(r->features);
	struct litifut_thread *thread;

	if (!id)
		return NULL;
	if (pointer == (uint32_t)litifut_early_thread - LITIFUT_PORT_VECTOR)
		pointer = 0; /* not libc's yet */

	/* A state with this id is this thread's own: ids are unique among the
	 * living, and no other thread uses it when its owner is dead. */
	for (thread = r->thread_list; thread; thread = thread->next)
		if (thread->id == id)
			break;
	if (!thread)
		thread = litifut_thread_take_over(id);
	if (!thread)
		thread = litifut_thread_add(id);
	if (!thread)
		return NULL;
	if (!(thread->hold & (LITIFUT_HOLD_SPAWN | LITIFUT_HOLD_POINTER)) &&
	    litifut_id_is_known(pointer, id)) {
		thread->pointer = pointer;
		litifut_port_barrier(r->features);
		r->threads[litifut_thread_slot(pointer)] = thread;
	}
	return thread;
}

bool litifut_threads_start(void)
{
	struct litifut_recorder *r = &litifut_recorder;
	uint32_t size = LITIFUT_THREAD_SLOTS * 4;
	long table;

	if (size < r->page_bytes)
		size = r->page_bytes;
	table = litifut_map_memory(size);
	if (litifut_failed(table))
		return false;
	/* Kernels before 4.14 do not know this. There a child that was made
	 * without telling libc (a raw clone) is not noticed. */
	LITIFUT_CALL3(madvise, table, size, MADV_WIPEONFORK);
	r->threads = (struct litifut_thread **)table;
	return true;
}

bool litifut_threads_in_use(void)
{
	for (uint32_t i = 0; i < LITIFUT_THREAD_SLOTS; i++)
		if (litifut_recorder.threads[i])
			return true;
	return false;
}

bool litifut_is_libc_thread(void)
{
	struct litifut_recorder *r = &litifut_recorder;
	uint32_t pointer = litifut_port_thread_pointer(r->features);
	uint32_t *word = (uint32_t *)(pointer + (uint32_t)r->id_offset);

	return r->calibrated && pointer && litifut_readable((uint32_t)word & ~7u) &&
	       *(volatile uint32_t *)word == litifut_thread_id();
}

void litifut_threads_recheck(void)
{
	for (uint32_t i = 0; i < LITIFUT_THREAD_SLOTS; i++)
		litifut_recorder.threads[i] = NULL;
}

void litifut_threads_forget(void)
{
	struct litifut_recorder *r = &litifut_recorder;

	litifut_threads_recheck();
	/* The chunks stay mapped: a writer that a signal interrupted before the
	 * fork may still fill its slot there, in the child as in the parent. */
	for (struct litifut_thread *thread = r->thread_list; thread; thread = thread->next) {
		thread->cursor = 0;
		thread->armed = 0;
		thread->chunk = 0;
		thread->pending = 0;
		thread->scratch_from = 0;
		thread->kept = 0;
		thread->lost = 0;
		thread->hold = 0;
		thread->guest = NULL;
		thread->time_high = 0;
		thread->pointer = 0;
		thread->id = 0;
	}
}
