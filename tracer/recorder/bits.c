/* LITIFUT_MODE=paths. The code of a branch shifts its bit into the word before the thread's cursor,
 * and needs the recorder when there is no cursor or no room (tracer/arm/bits.S,
 * tracer/mips/bits.S). Then a record says where the thread is and what is on its stack, so that a
 * reader can begin there.
 *
 * The word before the cursor may be stored to late, by code that a signal handler has interrupted.
 * So full chunks stay mapped for a while, see pending.c. */

#include "tracer/recorder/bits.h"

#include <stddef.h>

#include "frame.h"
#include "tracer/port/linux/memory.h"
#include "tracer/port/linux/system.h"
#include "tracer/recorder/armed.h"
#include "tracer/recorder/shared.h"
#include "tracer/recorder/thread.h"
#include "tracer/sink/chunks.h"

#define LITIFUT_BITS_CALLS 60
#define LITIFUT_BITS_STACK_BYTES 16384 /* that are searched for them */

/* Nothing else is mapped so near below the arguments of the program, or the end of the stack of a
 * thread. */
#define LITIFUT_BITS_STACK_FIRST (8u << 20)
#define LITIFUT_BITS_STACK_THREAD (256u << 10)

uint32_t litifut_bits_never;

/* The record, and behind it a word for bits that holds `last`. Signals are blocked, but for those
 * that the CPU sends; the handlers of these find the cursor behind the record.
 * Returns the cursor behind that word; 0 if there is no room. */
static uint32_t litifut_bits_append(struct litifut_thread *thread, const uint32_t *words,
				    uint32_t count, uint32_t last)
{
	uint32_t *cursor = litifut_thread_cursor(thread);
	volatile uint32_t *place = litifut_reserve(cursor, (count + 1) * 4, LITIFUT_CHUNK_BITS,
						   LITIFUT_ENCODING_WORDS, thread->id);

	litifut_thread_put(thread, place ? litifut_chunk_of((uint32_t)place) : 0);
	if (!place)
		return 0;
	place[count] = last;
	for (uint32_t i = 1; i < count; i++)
		place[i] = words[i];
	/* without words it is asked only for a place for bits */
	if (count)
		place[0] = words[0] | LITIFUT_BITS_RECORD;
	return (uint32_t)(place + count + 1);
}

bool litifut_bits_put(struct litifut_thread *thread, const uint32_t *words, uint32_t count)
{
	struct litifut_signals signals;
	bool done;

	litifut_signals_block(&signals);
	done = litifut_bits_append(thread, words, count, LITIFUT_BITS_NONE) != 0;
	litifut_signals_restore(&signals);
	return done;
}

/* Where the stack ends that the calling thread is on at `from`; what is mapped behind it must not
 * be read. It may be a device, or pages that a thread of the program provides when they are touched
 * (userfaultfd), which may be this one. Of a stack that is not known, the end of a page. */
static uint32_t litifut_bits_stack_end(uint32_t from)
{
	const struct litifut_recorder *r = &litifut_recorder;
	const uint32_t thread_end =
		litifut_port_thread_pointer(r->features) + LITIFUT_PORT_THREAD_STRUCTURE_END;
	stack_t stack;

	if (!litifut_failed(LITIFUT_CALL2(sigaltstack, 0, &stack)) &&
	    from - (uint32_t)stack.ss_sp < stack.ss_size)
		return (uint32_t)stack.ss_sp + (uint32_t)stack.ss_size;
	if (r->stack_start - from < LITIFUT_BITS_STACK_FIRST)
		return r->stack_start;
	return thread_end - from < LITIFUT_BITS_STACK_THREAD ? thread_end
							     : (from | (r->page_bytes - 1)) + 1;
}

void litifut_bits_record(struct litifut_thread *thread, const struct litifut_call *call)
{
	const struct litifut_recorder *r = &litifut_recorder;
	const uint32_t kind = call->stack_pointer & 3;
	const uint32_t stack = call->stack_pointer & ~3u;
	const struct litifut_module *module = call->module;
	const uint32_t code = module->text_start + module->load_bias;
	uint32_t words[4 + 2 * LITIFUT_BITS_CALLS];
	uint32_t count = 4;
	const uint32_t end = litifut_bits_stack_end(stack - 4);
	struct litifut_signals signals;
	uint32_t cursor;

	words[1] = call->return_address;
	words[2] = stack;
	words[3] = thread->epoch = r->epoch;
	/* the link register, which the code of the edge has pushed, may be the only place of one;
	 * where it holds nothing, the address in that code is there (tracer/arm/bits.S) */
	for (uint32_t at = stack - 4;
	     at < end && count < sizeof(words) / 4 && at - (stack - 4) < LITIFUT_BITS_STACK_BYTES;
	     at += 4) {
		if ((at == stack - 4 || !(at & (r->page_bytes - 1))) && !litifut_readable(at & ~7u))
			break;
		words[count] = *(const volatile uint32_t *)at;
		words[count + 1] = at;
		if (words[count] - code < module->text_end - module->text_start &&
		    words[count] != call->return_address)
			count += 2;
	}
	words[0] = LITIFUT_CONTROL_WORD(LITIFUT_WORD_SYNC, count - 1);
	litifut_signals_block(&signals);
	/* a bit stands in the word behind the record; so does that the block was entered */
	cursor = litifut_bits_append(thread, words, count,
				     kind < 2 ? LITIFUT_BITS_NONE << 1 | kind : LITIFUT_BITS_NONE);
	if (!cursor)
		litifut_lose(1);
	else if (call->arguments)
		litifut_frame_give_cursor(call->arguments, cursor);
	litifut_signals_restore(&signals);
}
