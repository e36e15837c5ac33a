/* Folds a chunk: most events in one loop, in as few instructions as a CPU with few registers
 * allows, and what that leaves alone by the functions of <litifut/fold.h>. */
#ifndef LITIFUT_FOLD_WORDS_H
#define LITIFUT_FOLD_WORDS_H

#include <litifut/fold.h>

typedef uint32_t __attribute__((may_alias)) litifut_fold_half;

#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define LITIFUT_FOLD_LOW 1
#else
#define LITIFUT_FOLD_LOW 0
#endif

LITIFUT_FOLD_INLINE uint32_t litifut_fold_low(const uint64_t *number)
{
	return ((const litifut_fold_half *)number)[LITIFUT_FOLD_LOW];
}

LITIFUT_FOLD_INLINE uint32_t litifut_fold_high(const uint64_t *number)
{
	return ((const litifut_fold_half *)number)[!LITIFUT_FOLD_LOW];
}

/* Adds to a number of 64 bits. The high half is touched only when it changes. */
#ifndef LITIFUT_FOLD_ADD
#define LITIFUT_FOLD_ADD(of, member, more)                                                         \
	do {                                                                                       \
		litifut_fold_half *half_ = (litifut_fold_half *)&(of)->member;                     \
		const uint32_t more_ = (more);                                                     \
		const uint32_t low_ = half_[LITIFUT_FOLD_LOW] + more_;                             \
                                                                                                   \
		half_[LITIFUT_FOLD_LOW] = low_;                                                    \
		if (__builtin_expect(low_ < more_, 0))                                             \
			half_[!LITIFUT_FOLD_LOW]++;                                                \
	} while (0)
#endif

/* Is this neither the shortest nor the longest call? */
LITIFUT_FOLD_INLINE bool litifut_fold_is_between(const struct litifut_table_call *call,
						 uint32_t took)
{
	return litifut_fold_high(&call->minimum_inverted) == UINT32_MAX &&
	       litifut_fold_low(&call->minimum_inverted) >= ~took &&
	       litifut_fold_low(&call->maximum) >= took;
}

/* Empties two words of a slot, the second one first or both at once. */
#ifndef LITIFUT_FOLD_EMPTY_TWO
#define LITIFUT_FOLD_EMPTY_TWO(slot, at)                                                           \
	do {                                                                                       \
		((volatile uint32_t *)(slot))[(at) + 1] = 0;                                       \
		((volatile uint32_t *)(slot))[at] = 0;                                             \
	} while (0)
#endif

LITIFUT_FOLD_INLINE void litifut_fold_empty(uint32_t *slot)
{
	LITIFUT_FOLD_EMPTY_TWO(slot, 1);
	*(volatile uint32_t *)slot = 0;
}

/* The first word of an event as a number by which a call with a lower stack pointer is less than
 * this bound of the uppermost open call; all that are not calls are more, and so are control words.
 */
LITIFUT_FOLD_INLINE uint32_t litifut_fold_order(uint32_t first)
{
	return (first >> 2 | first << 30) - LITIFUT_WORD_FIRST_ADDRESS / 4;
}

LITIFUT_FOLD_INLINE uint32_t litifut_fold_bound(const struct litifut_open_call *top, uint32_t depth)
{
	return (depth ? top[-1].stack_pointer >> 2 : UINT32_MAX >> 2) -
	       LITIFUT_WORD_FIRST_ADDRESS / 4;
}

/* What the marks of an event add to that number. */
#define LITIFUT_FOLD_ORDER(mark) ((uint32_t)(mark) << 30)
#define LITIFUT_FOLD_ORDERS (LITIFUT_FOLD_ORDER(1) - LITIFUT_WORD_FIRST_ADDRESS / 4)

#define LITIFUT_FOLD_USUAL(condition) __builtin_expect(condition, 1)

/* Folds from `word` on what is usual: calls whose entry is known, returns of the uppermost calls,
 * and what these show to have ended, as long as the clock makes no step of 2^31 or more and no call
 * is the shortest or longest of its site. Returns where it stops. Nothing is called from here, so
 * that all that is needed stays in registers: this loop is most of what a table costs. */
LITIFUT_FOLD_INLINE uint32_t *litifut_fold_usual(const struct litifut_fold *fold,
						 const struct litifut_fold_ways *ways,
						 uint32_t *word, const uint32_t *end)
{
	struct litifut_open_calls *open = fold->open;
	const struct litifut_fold_index index = ways->index(fold->context);
	const uint32_t cost = fold->cost;
	/* Times are relative to where it begins. */
	const uint64_t began = open->now;
	const uint32_t offset = (uint32_t)began + (uint32_t)(open->taken >> 8);
	uint32_t now = 0;
	uint32_t taken = (uint32_t)open->taken & 0xff;
	uint32_t depth = open->depth;
	struct litifut_open_call *top = fold->frames + depth;
	uint32_t bound = litifut_fold_bound(top, depth);
	/* Two events are looked at, and each may be a call that stays open. */
	uint32_t count = end - word < 8 || cost >> 22 ? 0 : (uint32_t)(end - word) - 7;
	const uint32_t *stop;

	if (count > 3 * (fold->limit - depth))
		count = 3 * (fold->limit - depth);
	stop = word + count;
	while (word < stop) {
		const uint32_t first = word[0];
		const uint32_t order = litifut_fold_order(first);
		struct litifut_table_call *call;
		uint32_t handle;
		uint32_t low;
		uint32_t time;

		if (LITIFUT_FOLD_USUAL(order < bound)) {
			low = word[2];
			time = low - offset - (taken >> 8);
			if (!LITIFUT_FOLD_USUAL(low) ||
			    !LITIFUT_FOLD_USUAL((int32_t)time >= (int32_t)now))
				break;
			handle = ways->look(&index, word[1], 0);
			if (!LITIFUT_FOLD_USUAL(handle))
				break;
			call = ways->entry(fold->context, handle);
			taken += cost;
			now = time;
			if (word[3] == first + LITIFUT_FOLD_RETURN && call->exit == word[4] &&
			    word[5]) {
				/* its return is the next event */
				const uint32_t next = word[5] - offset - (taken >> 8);
				const uint32_t took = next - time;

				if (LITIFUT_FOLD_USUAL((int32_t)next >= (int32_t)time) &&
				    litifut_fold_is_between(call, took)) {
					LITIFUT_FOLD_EMPTY_TWO(word, 4);
					LITIFUT_FOLD_EMPTY_TWO(word, 2);
					LITIFUT_FOLD_EMPTY_TWO(word, 0);
					LITIFUT_FOLD_ADD(call, count, 1);
					LITIFUT_FOLD_ADD(call, sum, took);
					LITIFUT_FOLD_ADD(call, self, took);
					if (depth)
						LITIFUT_FOLD_ADD(&top[-1], children, took);
					taken += cost;
					now = next;
					word += 6;
					continue;
				}
			}
			bound = order;
			top->stack_pointer = first;
		} else if (depth && order - bound == LITIFUT_FOLD_ORDER(LITIFUT_FOLD_RETURN)) {
			struct litifut_open_call *base = top - 1;
			uint64_t took;
			uint64_t children;
			bool tail;

			low = word[2];
			time = low - offset - (taken >> 8);
			if (!LITIFUT_FOLD_USUAL(low) ||
			    !LITIFUT_FOLD_USUAL((int32_t)time >= (int32_t)now))
				break;
			while (base->stack_pointer & LITIFUT_FOLD_TAIL && base > fold->frames)
				base--;
			if (ways->entry(fold->context, base->entry)->exit != word[1])
				break;
			/* Tail calls end with the call that made them. Killed in between, the event
			 * is found again, and ends what is left. */
			do {
				took = began + time - top[-1].start;
				children = top[-1].children;
				call = ways->entry(fold->context, top[-1].entry);
				if (took >> 32 || children > took ||
				    !litifut_fold_is_between(call, (uint32_t)took))
					goto out;
				tail = top - 1 > base;
				if (!tail)
					litifut_fold_empty(word);
				top--;
				*(volatile uint32_t *)&open->depth = --depth;
				LITIFUT_FOLD_ADD(call, sum, (uint32_t)took);
				LITIFUT_FOLD_ADD(call, self, (uint32_t)took - (uint32_t)children);
				if (depth)
					LITIFUT_FOLD_ADD(&top[-1], children, (uint32_t)took);
			} while (tail);
			bound = litifut_fold_bound(top, depth);
			taken += cost;
			now = time;
			word += 3;
			continue;
		} else if (depth && order - bound == LITIFUT_FOLD_ORDER(LITIFUT_FOLD_TAIL)) {
			low = word[2];
			time = low - offset - (taken >> 8);
			if (!low || (int32_t)time < (int32_t)now)
				break;
			handle = ways->look(&index, word[1], 0);
			if (!handle)
				break;
			call = ways->entry(fold->context, handle);
			taken += cost;
			now = time;
			top->stack_pointer = first;
		} else if (word[2] && (order < LITIFUT_FOLD_ORDERS ||
				       (order - LITIFUT_FOLD_ORDER(LITIFUT_FOLD_RETURN) > bound &&
					order - LITIFUT_FOLD_ORDER(LITIFUT_FOLD_RETURN) <
						LITIFUT_FOLD_ORDERS))) {
			/* the uppermost call has ended, and its return was not recorded */
			top--;
			*(volatile uint32_t *)&open->depth = --depth;
			call = ways->entry(fold->context, top->entry);
			LITIFUT_FOLD_ADD(call, untimed, 1);
			if (depth)
				top[-1].children += top->children;
			bound = litifut_fold_bound(top, depth);
			continue;
		} else {
			break;
		}
		/* a call that is open */
		litifut_fold_empty(word);
		LITIFUT_FOLD_ADD(call, count, 1);
		top->entry = handle;
		top->start = began + time;
		top->children = 0;
		top++;
		*(volatile uint32_t *)&open->depth = ++depth;
		word += 3;
	}
out:
	open->now = began + now;
	open->taken += taken - ((uint32_t)open->taken & 0xff);
	return word;
}

/* Folds the events from `word` to before `end`, and empties them. Returns where it stops: at
 * `end`, or at a slot that is not filled. With `skip`, such slots are left out. */
LITIFUT_FOLD_INLINE uint32_t *litifut_fold_words(const struct litifut_fold *fold,
						 const struct litifut_fold_ways *ways,
						 uint32_t *word, const uint32_t *end, bool skip)
{
	for (;;) {
		uint32_t done;

		word = litifut_fold_usual(fold, ways, word, end);
		if (word >= end)
			return word;
		done = litifut_fold_item(fold, ways, word, (uint32_t)(end - word), skip);
		if (!done)
			return word;
		word += done;
	}
}

#endif
