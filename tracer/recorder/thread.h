/* What the recorder keeps of a thread. */
#ifndef LITIFUT_TRACER_THREAD_H
#define LITIFUT_TRACER_THREAD_H

#include <litifut/thunk_abi.h>
#include <stdbool.h>
#include <stdint.h>

#include "tracer/recorder/state.h"

struct litifut_guest;

/* Why a thread must not be armed. */
enum litifut_hold {
	LITIFUT_HOLD_FORK = 1,   /* libc is about to fork */
	LITIFUT_HOLD_SPAWN = 2,  /* it makes a child without libc's fork handlers, see spawn.c */
	LITIFUT_HOLD_SHARED = 4, /* it may be the thread or its child, which are not distinguished:
				    see confine.c */
	LITIFUT_HOLD_POINTER = 8 /* threads that it has made have its thread pointer, see spawn.c */
};

/* A thread of the traced process. Only the thread whose kernel id is `id` uses
 * it, its signal handlers included; the structures are never freed, and one
 * whose thread has ended is taken over by compare-and-swap of `id`. */
struct litifut_thread {
	uint32_t pointer; /* thread pointer, the key of the fast look-up; 0: none */
	uint32_t id;      /* kernel thread id; 0: free */
	/* Run-time address of the next free word of the mapped chunk. Chunks are
	 * aligned to their size, so a multiple of it means: full, or none yet.
	 * Slots are reserved by compare-and-swap of this one word. */
	uint32_t cursor;
	/* The cursor has gone to where the thunks find it, litifut_thread_cursor(). */
	uint32_t armed;
	uint32_t chunk;     /* in which the last event was put; 0: not known */
	uint32_t hold;      /* enum litifut_hold; not 0: must not be armed */
	uint32_t epoch;     /* module epoch that the stream has last */
	uint32_t time_high; /* clock >> 30 at the last LITIFUT_WORD_TIME */
	/* While the thread has a scratch chunk: from where on its events are to be counted,
	 * else 0; the cursor of its chunk in the file, 0 without one; and what it has lost
	 * so far, since when. */
	uint32_t scratch_from;
	uint32_t kept;
	uint32_t lost;
	uint32_t loses; /* what goes into the scratch chunk would have been recorded */
	uint64_t lost_from;
	uint32_t scratch; /* address of the chunk's memory; 0: none yet */
	/* Held by LITIFUT_HOLD_SPAWN: where its stack and its thread pointer were, and who
	 * is in its memory; NULL: none that has recorded. */
	uint32_t spawn_stack;
	uint32_t spawn_pointer;
	struct litifut_guest *guest;
	uint32_t table;   /* LITIFUT_MODE=table: address of its struct litifut_table; 0: none yet */
	uint32_t pending; /* address of its struct litifut_pending; 0: none yet */
	uint32_t stacks;  /* it has more than one, see pending.c */
	/* While its signals are blocked for a fork: its thread pointer, and what was blocked
	 * before. */
	uint32_t fork_pointer;
	uint32_t fork_signals[LITIFUT_SIGSET_BYTES / 4];
	struct litifut_thread *next;
};

/* The thread in whose scratch chunk a cursor is that stands there, or at the end of it; NULL: it is
 * in no scratch chunk. These have no header, and are not in the file. */
struct litifut_thread *litifut_scratch_of(uint32_t cursor) __attribute__((visibility("hidden")));

/* Words of a thread were put into `chunk`, or nowhere: 0. A handler that has changed to the
 * scratch chunk meanwhile stays there. */
static inline void litifut_thread_put(struct litifut_thread *thread, uint32_t chunk)
{
	if (chunk || !*(volatile uint32_t *)&thread->scratch_from)
		thread->chunk = chunk;
}

static inline uint32_t litifut_thread_slot(uint32_t pointer)
{
	/* Threads of one program differ by their stack size, a round number. */
	return (pointer ^ pointer >> 7 ^ pointer >> 17) >> 3 & (LITIFUT_THREAD_SLOTS - 1);
}

#endif
