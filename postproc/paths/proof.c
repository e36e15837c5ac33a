/* Which blocks were executed for certain. A bit or a record says that the thread has come to where
 * it was recorded, and to the next block. Those behind that follow from the code alone, up to where
 * something is recorded again, and the thread may not have got there: it may have crashed, or
 * have been killed. So they are possible until the next bit or record of the thread proves them.
 *
 * What has come between proves nothing of the code that it has interrupted: a signal handler may
 * end the program, as that of a crash does. A function that code which is not followed may have
 * called looks the same, so that has to be decided: when another one comes from there, it was such
 * a call. */
#include "postproc/paths/walker.h"

#include <stdlib.h>

void post_walk_add_range(struct post_walk_ranges *ranges, struct post_walk_range range)
{
	POST_GROW(ranges->items, ranges->count, ranges->capacity);
	ranges->items[ranges->count++] = range;
}

void post_walk_begin_between(struct post_walker *walker, struct post_walk_frame *frame)
{
	frame->outside = !frame->interrupt && post_walk_is_outside(walker);
	/* such code has called before */
	if (frame->outside && walker->at.calls)
		post_walk_prove(walker);
	frame->base = walker->base;
	frame->entered = walker->entered;
	walker->base = walker->open.count;
	walker->entered = false;
}

void post_walk_end_between(struct post_walker *walker, const struct post_walk_frame *frame)
{
	walker->base = frame->base;
	walker->entered = frame->entered;
}

/* It is decided what the blocks from `base` on are. */
static void decide(struct post_walk *walk, struct post_walker *walker, bool proved)
{
	for (size_t i = walker->base; !proved && walk->looking && i < walker->open.count; i++)
		post_walk_add_range(&walk->unproved, walker->open.items[i]);
	walker->open.count = walker->base;
}

void post_walk_unwind(struct post_walk *walk, struct post_walker *walker, size_t count)
{
	decide(walk, walker, post_walk_is_outside(walker));
	while (walker->count > count) {
		const struct post_walk_frame *frame = &walker->frames[--walker->count];

		if (!frame->between)
			continue;
		walker->base = frame->base;
		decide(walk, walker, frame->outside);
	}
	walker->entered = false;
}

void post_walk_forget(struct post_walker *walker)
{
	walker->open.count = walker->base = 0;
	walker->entered = false;
}

void post_walk_end_thread(struct post_walk *walk, struct post_walker *walker)
{
	bool over = walker->at.state == POST_WALK_NOWHERE || post_walk_is_outside(walker);

	for (size_t i = walker->count;; i--) {
		decide(walk, walker, walk->ended && over);
		while (i && !walker->frames[i - 1].between)
			i--;
		if (!i)
			break;
		over = walker->frames[i - 1].outside;
		walker->base = walker->frames[i - 1].base;
	}
}

static int by_number(const void *left, const void *right)
{
	const struct post_walk_range *a = left, *b = right;

	return a->from < b->from ? -1 : a->from > b->from;
}

void post_walk_sort_unproved(struct post_walk *walk)
{
	if (walk->unproved.count)
		qsort(walk->unproved.items, walk->unproved.count, sizeof(*walk->unproved.items),
		      by_number);
}
