/* The default recorder: one call becomes one to four words in the calling
 * thread's chunk of the trace file. docs/recorder.md argues why this is safe
 * against signals, threads and fork. */

#include <stddef.h>

#include "tracer/recorder.h"
#include "tracer/system.h"

struct litifut_recorder litifut_recorder = {.descriptor = -1};

void litifut_lose(uint32_t events)
{
	struct litifut_trace_header *header = litifut_recorder.header;

	litifut_add(header ? &header->lost_events : &litifut_recorder.lost_early, events);
}

void litifut_update_fast(void)
{
	struct litifut_recorder *r = &litifut_recorder;

	r->fast = r->phase == LITIFUT_PHASE_READY && r->recording && r->features.modern &&
		  r->settings.clock == LITIFUT_CLOCK_NONE && !r->settings.dedup &&
		  r->settings.bulk_kb;
}

uint32_t *litifut_reserve(uint32_t *cursor, uint32_t bytes, uint32_t kind, uint32_t thread)
{
	uint32_t mask = litifut_recorder.chunk_mask;

	for (;;) {
		uint32_t at = *(volatile uint32_t *)cursor;
		uint32_t used = at & mask;

		if (used && used + bytes <= mask + 1) {
			if (litifut_port_compare_exchange(litifut_recorder.features, cursor, at,
							  at + bytes))
				return (uint32_t *)at;
			continue;
		}
		uint32_t chunk = litifut_chunk_new(kind, thread);

		if (!chunk)
			return NULL;
		/* A signal handler may have done the same meanwhile: then its
		 * chunk is used and ours stays an empty one in the file. */
		if (!litifut_exchange(cursor, at, chunk + sizeof(struct litifut_chunk_header)))
			litifut_unmap(chunk, mask + 1);
		else if (at)
			litifut_chunk_close(at);
	}
}

/* The paper's "no bulk": the words go to the file by a system call each time. */
static void litifut_fill_through_file(uint32_t *place, const uint32_t *words, uint32_t count)
{
	struct litifut_recorder *r = &litifut_recorder;
	uint32_t base = (uint32_t)place & ~r->chunk_mask;
	const struct litifut_chunk_header *chunk = (const struct litifut_chunk_header *)base;
	long descriptor = litifut_trace_descriptor();

	litifut_write_at(descriptor, words, count * 4,
			 LITIFUT_HEADER_BYTES + (uint64_t)chunk->number * (r->chunk_mask + 1) +
				 ((uint32_t)place - base));
}

void litifut_fill(uint32_t *place, const uint32_t *words, uint32_t count)
{
	if (!litifut_recorder.settings.bulk_kb) {
		litifut_fill_through_file(place, words, count);
		return;
	}
	for (uint32_t i = 1; i < count; i++)
		((volatile uint32_t *)place)[i] = words[i];
	*(volatile uint32_t *)place = words[0];
}

static uint32_t litifut_event_words(const struct litifut_call *call, uint32_t *words)
{
	if (call->kind == LITIFUT_SITE_DIRECT) {
		words[0] = call->return_address;
		return 1;
	}
	words[0] = LITIFUT_CONTROL_WORD(
		call->kind == LITIFUT_SITE_INDIRECT ? LITIFUT_WORD_INDIRECT : LITIFUT_WORD_TAIL, 2);
	words[1] = call->return_address;
	words[2] = call->callee;
	return 3;
}

static void litifut_put(struct litifut_thread *thread, const uint32_t *words, uint32_t count)
{
	uint32_t *place =
		litifut_reserve(&thread->cursor, count * 4, LITIFUT_CHUNK_EVENTS, thread->id);

	if (place)
		litifut_fill(place, words, count);
	else
		litifut_lose(1);
}

static void litifut_record_in(struct litifut_thread *thread, const struct litifut_call *call)
{
	uint32_t words[4];

	litifut_put(thread, words, litifut_event_words(call, words));
}

/* Everything that is not usual: the first event of a process, a thread, a
 * module or an epoch, a thread that cannot be known by its pointer, and events
 * while recording is off. */
static __attribute__((noinline)) void litifut_record_slowly(const struct litifut_call *call)
{
	struct litifut_recorder *r = &litifut_recorder;
	struct litifut_thread *thread;
	uint32_t process;

	if (r->phase == LITIFUT_PHASE_OFF)
		return;
	if (r->phase == LITIFUT_PHASE_NEW && !litifut_process_start(call->module)) {
		litifut_lose(1);
		return;
	}
	process = litifut_process_id();
	if (process != r->process && !litifut_process_forked(process)) {
		litifut_lose(1);
		return;
	}
	if (r->phase != LITIFUT_PHASE_READY) {
		litifut_lose(1);
		return;
	}
	if (!r->recording)
		return;
	if (r->full) {
		litifut_lose(1);
		return;
	}
	if (!call->module->serial)
		litifut_module_announce(call->module);
	thread = litifut_thread_find(litifut_thread_id());
	if (!thread) {
		litifut_lose(1);
		return;
	}
	if (thread->epoch != r->epoch) {
		uint32_t words[2] = {LITIFUT_CONTROL_WORD(LITIFUT_WORD_EPOCH, 1), r->epoch};

		thread->epoch = words[1];
		litifut_put(thread, words, 2);
	}
	litifut_record_in(thread, call);
}

__attribute__((visibility("default"))) void litifut_record_trace(const struct litifut_call *call)
{
	struct litifut_recorder *r = &litifut_recorder;
	struct litifut_thread *thread;
	uint32_t pointer;

	if (!r->fast || !call->module->serial) {
		litifut_record_slowly(call);
		return;
	}
	pointer = litifut_port_thread_pointer_fast();
	thread = r->threads[litifut_thread_slot(pointer)];
	/* The word of libc tells a recycled thread and a forked child from the
	 * thread that this state is for. */
	if (!thread || thread->pointer != pointer || *thread->id_word != thread->id) {
		litifut_record_slowly(call);
		return;
	}
	if (call->kind == LITIFUT_SITE_DIRECT) {
		uint32_t at = *(volatile uint32_t *)&thread->cursor;

		if ((at & r->chunk_mask) &&
		    litifut_port_compare_exchange_fast(&thread->cursor, at, at + 4)) {
			*(volatile uint32_t *)at = call->return_address;
			return;
		}
	}
	litifut_record_in(thread, call);
}
