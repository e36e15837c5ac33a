/* The cursor where thunks find it (<litifut/thunk_abi.h>).
 *
 * A thunk has a few instructions to find the place for its event, so the cursor
 * of a thread stands in a word that two loads from the thread pointer reach: the
 * second word of the first entry of libc's vector of thread-local blocks. glibc
 * uses the first word of that entry (a generation number) and leaves the second
 * alone; it is 0 in each new thread, also in one whose stack is used again, and
 * moves along when the vector grows. No thread-local block of the recorder is needed,
 * which a library loaded late might not get.
 *
 * 0 there, or a multiple of 16 KB, which the end of every chunk is, sends the thunk
 * the long way, which ends here. So the recorder decides alone: a thread whose events it
 * has to see one by one is not armed.
 *
 * The vector is never touched for a thread that has ended: its memory may have
 * another use by then. */

#include "tracer/recorder/armed.h"

#include <litifut/module_format.h>
#include <stdbool.h>
#include <stddef.h>

#include "tracer/port/linux/memory.h"
#include "tracer/port/linux/system.h"
#include "tracer/recorder/shared.h"
#include "tracer/recorder/state.h"
#include "tracer/recorder/thread.h"
#include "tracer/sink/chunks.h"

/* A thread of this libc has a vector. Where nothing can be asked any more, others are taken to have
 * one as well. */
static uint32_t litifut_vector_seen;

static bool litifut_vector_readable(uint32_t address)
{
	return litifut_system_calls_forbidden ? litifut_vector_seen : litifut_readable(address);
}

uint32_t *litifut_cursor_word(uint32_t pointer)
{
	uint32_t vector;

	if (!pointer || !litifut_vector_readable((pointer + LITIFUT_PORT_VECTOR) & ~7u))
		return NULL;
	vector = *(volatile uint32_t *)(pointer + LITIFUT_PORT_VECTOR);
	return vector && !(vector & 3) && litifut_vector_readable(vector + LITIFUT_THUNK_CURSOR)
		       ? (uint32_t *)(vector + LITIFUT_THUNK_CURSOR)
		       : NULL;
}

uint32_t *litifut_thread_cursor(struct litifut_thread *thread)
{
	uint32_t *word;

	if (!thread->armed)
		return &thread->cursor;
	word = (uint32_t *)(*(volatile uint32_t *)(thread->pointer + LITIFUT_PORT_VECTOR) +
			    LITIFUT_THUNK_CURSOR);
	if (*(volatile uint32_t *)word)
		return word;
	/* another thread has taken it away, or there was no room for a new chunk */
	thread->armed = 0;
	return &thread->cursor;
}

/* The constructors of libraries run before the program's _start, and that before the constructor
 * that announces the program's module. Its thunks may store events of another form, or read a
 * counter that this CPU does not have: they find no cursor until the module has been compared. */
static bool litifut_program_is_coming(void)
{
	return litifut_module.flags & LITIFUT_MODULE_EXECUTABLE &&
	       !*(volatile uint32_t *)&litifut_module.registered;
}

void litifut_thread_arm(struct litifut_thread *thread)
{
	struct litifut_recorder *r = &litifut_recorder;
	struct litifut_signals signals;
	uint32_t *word;
	uint32_t at;

	/* a thread that is known by its pointer, and by nothing else */
	if (thread->armed || thread->hold || !thread->pointer || litifut_program_is_coming() ||
	    thread->pointer != litifut_port_thread_pointer(r->features))
		return;
	word = litifut_cursor_word(thread->pointer);
	if (!word)
		return;
	litifut_vector_seen = 1;
	litifut_signals_block(&signals);
	at = *(volatile uint32_t *)&thread->cursor;
	/* What stands there is not of this thread, nor of this recorder: code in another namespace
	 * of the dynamic linker (dlmopen) has a recorder too, and the first one keeps the word.
	 * Where signals can't be blocked, a handler in between may take another chunk and arm the
	 * thread with it; then this one stays as it is. */
	if (!thread->armed && at & r->chunk_mask && !*(volatile uint32_t *)word &&
	    litifut_exchange(&thread->cursor, at, 0)) {
		thread->armed = 1;
		litifut_exchange(word, 0, at);
	}
	litifut_signals_restore(&signals);
}

/* Takes the cursor out of `word` and puts it back into the thread's state. When
 * its owner, which may be another thread, has begun a new chunk meanwhile, the
 * old one stays as it is. */
static void litifut_take(struct litifut_thread *thread, uint32_t *word)
{
	uint32_t at;

	do {
		at = *(volatile uint32_t *)word;
		/* only what is this thread's for certain */
		if (!at ||
		    (litifut_chunk_of(at - 1) != thread->chunk && litifut_scratch_of(at) != thread))
			return;
	} while (!litifut_exchange(word, at, 0));
	litifut_exchange(&thread->cursor, 0, at);
}

void litifut_thread_disarm(struct litifut_thread *thread)
{
	struct litifut_signals signals;

	litifut_signals_block(&signals);
	if (thread->armed) {
		uint32_t *cursor = litifut_thread_cursor(thread);

		if (cursor != &thread->cursor)
			litifut_take(thread, cursor);
		thread->armed = 0;
	}
	litifut_signals_restore(&signals);
}

void litifut_threads_disarm(void)
{
	struct litifut_recorder *r = &litifut_recorder;
	uint32_t self = litifut_thread_id();

	for (struct litifut_thread *thread = r->thread_list; thread; thread = thread->next) {
		uint32_t *word;

		if (!thread->armed)
			continue;
		if (thread->id == self) {
			litifut_thread_disarm(thread);
			continue;
		}
		if (!thread->id ||
		    litifut_failed(LITIFUT_CALL3(tgkill, r->file.process, thread->id, 0)))
			continue;
		word = litifut_cursor_word(thread->pointer);
		if (word)
			litifut_take(thread, word);
	}
}

void litifut_cursor_drop(void)
{
	uint32_t *word =
		litifut_cursor_word(litifut_port_thread_pointer(litifut_recorder.features));

	if (word)
		*(volatile uint32_t *)word = 0;
}

uint32_t litifut_cursor_recover(const struct litifut_thread *thread)
{
	uint32_t from = thread->chunk + (uint32_t)sizeof(struct litifut_chunk_header);
	uint32_t at = (thread->chunk | litifut_recorder.chunk_mask) + 1;

	while (at > from && !*(volatile uint32_t *)(at - 4))
		at -= 4;
	return at;
}
