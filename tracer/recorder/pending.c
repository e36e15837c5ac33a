/* A signal handler may come between the reserving of a place in a chunk and the store to it. If
 * the chunk is full and left before that store, it has to stay as it is, until the handler has
 * returned and the store is made, or the handler has been left by siglongjmp and it never will be.
 *
 * Which of these has happened is seen on the stack of the thread: a store that is pending has its
 * address in a register that the kernel has saved there, with the frame of the handler. So a
 * chunk is given back when no word on the stack of its thread, from the stack pointer up, is an
 * address in it. A word that looks like one by chance keeps it a little longer.
 *
 * That holds for a thread with one stack. On an alternate signal stack nothing is given back; nor
 * is it any more in a thread that is ever found on a stack elsewhere, as its handlers may change
 * between stacks. Then the oldest chunk is given back when there are LITIFUT_PENDING of them. */

#include "tracer/recorder/pending.h"

#include <stddef.h>

#include "tracer/port/linux/memory.h"
#include "tracer/port/linux/system.h"
#include "tracer/recorder/stacks.h"
#include "tracer/recorder/state.h"
#include "tracer/recorder/thread.h"
#include "tracer/sink/ring.h"

/* A page of them. */
#define LITIFUT_PENDING 500

/* So many before it is looked at them in LITIFUT_MODE=paths, where any chunk may have a pending
 * store. */
#define LITIFUT_PENDING_BITS 8

/* A thread that is further from the end of its stack is taken for one that is on another. */
#define LITIFUT_PENDING_STACK (256u << 10)

struct litifut_pending_chunk {
	uint32_t chunk;
	uint32_t place;
};

/* Of a thread, the oldest first. */
struct litifut_pending {
	uint32_t count;
	struct litifut_pending_chunk chunks[LITIFUT_PENDING];
};

/* Is that on the alternate signal stack of the calling thread? */
static bool litifut_is_alternate(uint32_t address)
{
	stack_t stack;

	return litifut_failed(LITIFUT_CALL2(sigaltstack, 0, &stack)) ||
	       address - (uint32_t)stack.ss_sp < stack.ss_size;
}

/* Where the stack of the calling thread ends, which is at `from`: where the kernel has put the
 * arguments of the program, or libc the structure of the thread. That of the first thread stands on
 * the heap in a static program, where stacks of coroutines may be right before it. 0: it is not to
 * be relied on. */
static uint32_t litifut_stack_end(struct litifut_thread *thread, uint32_t from)
{
	const struct litifut_recorder *r = &litifut_recorder;
	uint32_t end = r->stack_start;

	if (end - from >= LITIFUT_PENDING_STACK && thread->id != r->file.process)
		end = litifut_port_thread_pointer(r->features) + LITIFUT_PORT_THREAD_STRUCTURE_END;
	if (end - from < LITIFUT_PENDING_STACK)
		return thread->stacks ? 0 : end;
	if (!litifut_is_alternate(from))
		thread->stacks = 1;
	return 0;
}

static bool litifut_refers(uint32_t from, uint32_t end, uint32_t chunk)
{
	for (; from < end; from += 4)
		if (*(const volatile uint32_t *)from - chunk <= litifut_recorder.chunk_mask + 1)
			return true;
	return false;
}

/* The same, after a look at what cannot be known for certain before. */
static uint32_t litifut_stack_checked(uint32_t from, uint32_t end)
{
	if (litifut_is_alternate(from))
		return 0;
	for (uint32_t at = from; at < end; at = (at | (litifut_recorder.page_bytes - 1)) + 1)
		if (!litifut_readable(at & ~7u))
			return 0;
	return end;
}

static void litifut_pending_look(struct litifut_pending *pending, uint32_t from, uint32_t end)
{
	struct litifut_recorder *r = &litifut_recorder;
	uint32_t full = pending->count == LITIFUT_PENDING;
	uint32_t count = 0;

	end = litifut_stack_checked(from, end);
	for (uint32_t i = 0; i < pending->count; i++) {
		struct litifut_pending_chunk at = pending->chunks[i];

		if (i >= full && (!end || litifut_refers(from, end, at.chunk))) {
			pending->chunks[count++] = at;
			continue;
		}
		litifut_unmap(at.chunk, r->chunk_mask + 1);
		litifut_ring_give(&r->file, at.place);
	}
	pending->count = count;
}

static uint32_t litifut_pending_least(void)
{
	return litifut_has_bits() ? LITIFUT_PENDING_BITS : 1;
}

struct litifut_thread *litifut_thread_in(uint32_t chunk)
{
	struct litifut_thread *thread = litifut_recorder.thread_list;

	while (thread && thread->chunk != chunk)
		thread = thread->next;
	return thread;
}

void litifut_pending(uint32_t chunk, uint32_t place, bool keep)
{
	struct litifut_thread *thread = litifut_thread_in(chunk);
	struct litifut_pending *pending;
	uint32_t from = litifut_program_stack();
	uint32_t end;

	/* without system calls nothing can be given back */
	if (!thread || litifut_system_calls_forbidden)
		return;
	end = litifut_stack_end(thread, from);
	if (keep && !thread->pending) {
		long room = litifut_map_memory(sizeof(*pending));

		if (!litifut_failed(room))
			thread->pending = (uint32_t)room;
	}
	pending = (struct litifut_pending *)thread->pending;
	if (!pending)
		return;
	if (keep) {
		pending->chunks[pending->count].chunk = chunk;
		pending->chunks[pending->count++].place = place;
	}
	if (pending->count >= litifut_pending_least())
		litifut_pending_look(pending, from, end);
}

#if !LITIFUT_STREAM_ONLY
bool litifut_is_pending(struct litifut_thread *thread, uint32_t chunk)
{
	uint32_t from = litifut_program_stack();
	uint32_t end = litifut_stack_checked(from, litifut_stack_end(thread, from));

	return !end || litifut_refers(from, end, chunk);
}
#endif
