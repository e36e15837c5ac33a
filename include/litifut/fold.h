/* From the enters and returns of one thread to its table of calls (LITIFUT_MODE=table). The
 * recorder does this with each full chunk of events and uses the chunk again; a reader does
 * the same with what was not done yet when the program ended. Included by both, so that both
 * come to the same numbers.
 *
 * The words of an event, in a chunk of a trace whose mode is LITIFUT_MODE_TABLE:
 *
 *   [stack pointer + mark] [address] [time]            a direct call, a direct tail call, a return
 *   [stack pointer + mark] [address] [callee] [time]   a call or tail call through a register
 *
 * `address` is the return address of a call, the key of a tail call, or the place in the code
 * for returns that stands for a return. The stack pointer is the caller's, so an event finds
 * its place among the open calls by itself: calls with a lower one are gone, whatever the way
 * (longjmp, an exception, the end of the thread). Words below LITIFUT_WORD_FIRST_ADDRESS are
 * control words, as in other chunks. A slot is filled front to back; 0 in its first or last
 * word says that it is not filled yet. It is emptied back to front when it is folded. */
#ifndef LITIFUT_FOLD_H
#define LITIFUT_FOLD_H

#include <litifut/trace_format.h>
#include <stdbool.h>
#include <stdint.h>

/* In bits 0 and 1 of the first word of an event; bit 2 as well where a callee follows. */
enum litifut_fold_mark {
	LITIFUT_FOLD_CALL = 0,
	LITIFUT_FOLD_RETURN = 1,
	LITIFUT_FOLD_TAIL = 2,
	LITIFUT_FOLD_CALL_POINTER = 3,
	LITIFUT_FOLD_TAIL_POINTER = 7
};

/* A larger step of the clock, modulo 2^32, is a step backwards: events of a signal handler have
 * overtaken this event, or the thread lost the CPU between the reading of the clock and the making
 * of the chunk. Recorders write LITIFUT_WORD_TIME where a step forwards would be as large, thunks
 * can't. */
#define LITIFUT_FOLD_STEP_MAX 0xc0000000u

/* Most entries are found in this index. */
struct litifut_fold_index {
	const uint32_t *slots; /* handles by hash; a free one is 0 */
	uint32_t factor;       /* times this, */
	uint32_t shift;        /* and shifted by this, an address is the number of a slot */
};

/* What differs between the recorder and a reader. */
struct litifut_fold_ways {
	struct litifut_fold_index (*index)(void *context);
	/* The same as `find` for a call or, with a callee, for one through a register, without
	 * adding one; 0: use `find`. */
	uint32_t (*look)(const struct litifut_fold_index *index, uint32_t address, uint32_t callee);
	/* Handle of the entry for this call; 0: there is no room for one. */
	uint32_t (*find)(void *context, uint32_t address, uint32_t callee, bool tail);
	struct litifut_table_call *(*entry)(void *context, uint32_t handle);
	/* Is `exit` what stands for returns of this call? */
	bool (*returns_by)(void *context, struct litifut_table_call *call, uint32_t exit);
	/* Addresses are those of this module epoch from here on. */
	void (*epoch)(void *context, uint32_t epoch);
};

/* The open calls of a thread: `frames` has room for `limit`. */
struct litifut_fold {
	struct litifut_open_calls *open;
	struct litifut_open_call *frames;
	uint32_t limit;
	uint32_t cost; /* of an event, ticks times 256: it is taken off */
	void *context;
};

#define LITIFUT_FOLD_INLINE static inline __attribute__((always_inline))
/* For rare cases, which must stay outside the loop. */
#define LITIFUT_FOLD_SLOW static __attribute__((noinline, cold, unused))

LITIFUT_FOLD_INLINE uint64_t litifut_fold_time(uint64_t now, uint32_t low)
{
	uint32_t step = low - (uint32_t)now;

	return step <= LITIFUT_FOLD_STEP_MAX ? now + step : now;
}

/* A chunk begins at `time`, which may be so far behind the last event that the low half of the
 * clock does not say how far. Else the next event says it better: the chunk can be newer than that.
 */
LITIFUT_FOLD_INLINE void litifut_fold_reach(const struct litifut_fold *fold, uint64_t time)
{
	const uint64_t now = time - (fold->open->taken >> 8);

	if (now <= time && now > fold->open->now &&
	    (!fold->open->now || now - fold->open->now > LITIFUT_FOLD_STEP_MAX / 2))
		fold->open->now = now;
}

/* An event comes at this time, all of whose bits are given. */
LITIFUT_FOLD_INLINE void litifut_fold_tell(const struct litifut_fold *fold, uint64_t time)
{
	const uint64_t now = time - (fold->open->taken >> 8);

	if (now <= time && now > fold->open->now)
		fold->open->now = now;
}

/* The top call has ended, when and how is not known. What its callees took stays with the
 * call below, and so does its own time. */
LITIFUT_FOLD_INLINE void litifut_fold_cut(const struct litifut_fold *fold,
					  const struct litifut_fold_ways *ways)
{
	uint32_t depth = --*(volatile uint32_t *)&fold->open->depth;
	const struct litifut_open_call *top = &fold->frames[depth];

	ways->entry(fold->context, top->entry)->untimed++;
	if (depth)
		fold->frames[depth - 1].children += top->children;
}

LITIFUT_FOLD_INLINE void litifut_fold_cut_all(const struct litifut_fold *fold,
					      const struct litifut_fold_ways *ways)
{
	while (fold->open->depth)
		litifut_fold_cut(fold, ways);
}

/* The top call, which is number `depth` from below, has returned. */
LITIFUT_FOLD_INLINE void litifut_fold_close(const struct litifut_fold *fold,
					    const struct litifut_fold_ways *ways,
					    struct litifut_open_call *top, uint32_t depth,
					    uint64_t now)
{
	struct litifut_table_call *call = ways->entry(fold->context, top->entry);
	uint64_t took = now - top->start;
	uint64_t inverted = ~took;

	*(volatile uint32_t *)&fold->open->depth = depth;
	call->sum += took;
	if (took > top->children)
		call->self += took - top->children;
	if (inverted > call->minimum_inverted)
		call->minimum_inverted = inverted;
	if (took > call->maximum)
		call->maximum = took;
	if (depth)
		top[-1].children += took;
}

LITIFUT_FOLD_INLINE void litifut_fold_enter(const struct litifut_fold *fold,
					    const struct litifut_fold_ways *ways,
					    uint32_t stack_pointer, bool tail, uint32_t address,
					    uint32_t callee)
{
	struct litifut_open_calls *open = fold->open;
	uint32_t handle = ways->find(fold->context, address, callee, tail);
	struct litifut_open_call *frame;
	uint32_t depth;

	/* A tail call stands on top of the call that it ends, at the same stack pointer. */
	while (open->depth &&
	       (fold->frames[open->depth - 1].stack_pointer & ~3u) < stack_pointer + !tail)
		litifut_fold_cut(fold, ways);
	if (!handle) {
		open->lost++;
		return;
	}
	ways->entry(fold->context, handle)->count++;
	depth = open->depth;
	if (depth == fold->limit ||
	    (tail && (!depth || (fold->frames[depth - 1].stack_pointer & ~3u) != stack_pointer))) {
		ways->entry(fold->context, handle)->untimed++;
		return;
	}
	frame = &fold->frames[depth];
	frame->entry = handle;
	frame->stack_pointer = stack_pointer + (tail ? LITIFUT_FOLD_TAIL : 0);
	frame->start = open->now;
	frame->children = 0;
	*(volatile uint32_t *)&open->depth = depth + 1;
}

LITIFUT_FOLD_INLINE void litifut_fold_leave(const struct litifut_fold *fold,
					    const struct litifut_fold_ways *ways,
					    uint32_t stack_pointer, uint32_t exit)
{
	struct litifut_open_calls *open = fold->open;
	uint32_t base;

	while (open->depth && (fold->frames[open->depth - 1].stack_pointer & ~3u) < stack_pointer)
		litifut_fold_cut(fold, ways);
	base = open->depth;
	while (base && fold->frames[base - 1].stack_pointer == stack_pointer + LITIFUT_FOLD_TAIL)
		base--;
	if (!base || fold->frames[base - 1].stack_pointer != stack_pointer)
		return; /* its call was made before recording began, or is not recorded */
	base--;
	if (ways->returns_by(fold->context, ways->entry(fold->context, fold->frames[base].entry),
			     exit))
		while (open->depth > base)
			litifut_fold_close(fold, ways, &fold->frames[open->depth - 1],
					   open->depth - 1, open->now);
	else /* setjmp returns again: what was called since is gone */
		while (open->depth > base)
			litifut_fold_cut(fold, ways);
}

LITIFUT_FOLD_SLOW void litifut_fold_other(const struct litifut_fold *fold,
					  const struct litifut_fold_ways *ways, uint32_t first,
					  uint32_t address, uint32_t callee)
{
	switch (first & 3) {
	case LITIFUT_FOLD_CALL:
		litifut_fold_enter(fold, ways, first, false, address, 0);
		break;
	case LITIFUT_FOLD_RETURN:
		litifut_fold_leave(fold, ways, first & ~3u, address);
		break;
	case LITIFUT_FOLD_TAIL:
		litifut_fold_enter(fold, ways, first & ~3u, true, address, 0);
		break;
	default:
		litifut_fold_enter(fold, ways, first & ~7u,
				   (first & 7) == LITIFUT_FOLD_TAIL_POINTER, address, callee);
		break;
	}
}

/* A control word; returns how many words it has. */
LITIFUT_FOLD_SLOW uint32_t litifut_fold_control(const struct litifut_fold *fold,
						const struct litifut_fold_ways *ways,
						volatile uint32_t *slot, uint32_t words)
{
	uint32_t last = LITIFUT_CONTROL_FOLLOWING(slot[0]);

	if (last >= words)
		last = words - 1;
	if (LITIFUT_CONTROL_KIND(slot[0]) == LITIFUT_WORD_THREAD && last) {
		litifut_fold_cut_all(fold, ways);
		fold->open->thread = slot[1];
	}
	if (LITIFUT_CONTROL_KIND(slot[0]) == LITIFUT_WORD_STARTED)
		litifut_fold_cut_all(fold, ways); /* which have returned meanwhile is not known */
	if (LITIFUT_CONTROL_KIND(slot[0]) == LITIFUT_WORD_TIME && last > 1) {
		litifut_fold_tell(fold, (uint64_t)slot[2] << 32 | slot[1]);
	}
	if (LITIFUT_CONTROL_KIND(slot[0]) == LITIFUT_WORD_TAKEN && last)
		fold->open->taken += (uint64_t)slot[1] << 8;
	if (LITIFUT_CONTROL_KIND(slot[0]) == LITIFUT_WORD_EPOCH && last) {
		fold->open->epoch = slot[1];
		ways->epoch(fold->context, slot[1]);
	}
	for (uint32_t at = last; at; at--)
		slot[at] = 0;
	slot[0] = 0;
	return last + 1;
}

/* One item of any kind at `word`; returns how many words it has, 0 for a slot that is not filled
 * and is not to be left out. */
LITIFUT_FOLD_SLOW uint32_t litifut_fold_item(const struct litifut_fold *fold,
					     const struct litifut_fold_ways *ways,
					     volatile uint32_t *slot, uint32_t words, bool skip)
{
	struct litifut_open_calls *open = fold->open;
	uint32_t first = slot[0];
	uint32_t last = (first & 3) == LITIFUT_FOLD_CALL_POINTER ? 3 : 2;
	uint32_t address;
	uint32_t callee = 0;
	uint32_t low;

	if (first < LITIFUT_WORD_FIRST_ADDRESS)
		return first || skip ? litifut_fold_control(fold, ways, slot, words) : 0;
	if (last >= words)
		return words;
	low = slot[last];
	if (!low && !skip)
		return 0;
	address = slot[1];
	if (last == 3) {
		callee = slot[2];
		slot[3] = 0;
	}
	slot[2] = 0;
	slot[1] = 0;
	slot[0] = 0;
	if (low) {
		open->now = litifut_fold_time(open->now, low - (uint32_t)(open->taken >> 8));
		open->taken += fold->cost;
		litifut_fold_other(fold, ways, first, address, callee);
	} else {
		open->lost++;
	}
	return last + 1;
}

#endif
