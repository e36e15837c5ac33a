/* Which blocks were executed for certain. A bit or a record says that the thread has come to where
 * it was recorded, and to the next block. Those behind that follow from the code alone, up to where
 * something is recorded again, and the thread may not have got there: it may have crashed, or
 * have been killed. So they are open until the next bit or record of the thread proves them, and
 * held back with all that comes behind; what nothing proves is only possible. A thread may wait for
 * long while others go on: then a copy of the walk looks ahead, to the end, once.
 *
 * What has come between proves nothing of the code that it has interrupted: a signal handler may
 * end the program, as that of a crash does. A function that code which is not followed may have
 * called looks the same, so that has to be decided: when another one comes from there, it was such
 * a call. */
#include "postproc/paths/walker.h"

#include <stdlib.h>
#include <string.h>

void post_walk_add_range(struct post_walk_ranges *ranges, struct post_walk_range range)
{
	POST_GROW(ranges->items, ranges->count, ranges->capacity);
	ranges->items[ranges->count++] = range;
}

void post_walk_begin_between(struct post_walk *walk, struct post_walker *walker,
			     struct post_walk_frame *frame)
{
	frame->outside = !frame->interrupt && post_walk_is_outside(walker);
	/* such code has called before */
	if (frame->outside && walker->at.calls)
		post_walk_prove(walk, walker);
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

void post_walk_hold(struct post_walk *walk, const struct post_path_step *step, bool open)
{
	const size_t end = walk->held_first + walk->held_count;

	if (end == walk->held_capacity && walk->held_first > walk->held_count) {
		memcpy(walk->held, walk->held + walk->held_first,
		       walk->held_count * sizeof(*walk->held));
		walk->held_first = 0;
	}
	POST_GROW(walk->held, walk->held_first + walk->held_count, walk->held_capacity);
	walk->held[walk->held_first + walk->held_count++] =
		(struct post_walk_held){.step = *step, .open = open};
}

/* Hands on what is held up to the first step that is open. */
static void hand_on_held(struct post_walk *walk)
{
	while (walk->held_count && !walk->held[walk->held_first].open) {
		post_walk_hand_on(walk, &walk->held[walk->held_first++].step);
		walk->held_count--;
	}
	if (!walk->held_count)
		walk->held_first = 0;
}

static void decide_held(struct post_walk *walk, const struct post_walk_range *range, bool proved)
{
	const uint64_t first = walk->given - walk->held_count;

	for (uint64_t number = range->from; number < range->to; number++) {
		struct post_walk_held *held = &walk->held[walk->held_first + (number - first)];

		held->open = false;
		if (!proved)
			held->step.kind = POST_PATH_POSSIBLE;
	}
}

void post_walk_decide(struct post_walk *walk, struct post_walker *walker, bool proved)
{
	for (size_t i = walker->base; i < walker->open.count; i++)
		if (!walk->looking)
			decide_held(walk, &walker->open.items[i], proved);
		else if (!proved)
			post_walk_add_range(&walk->unproved, walker->open.items[i]);
	walker->open.count = walker->base;
	hand_on_held(walk);
}

void post_walk_unwind(struct post_walk *walk, struct post_walker *walker, size_t count)
{
	post_walk_decide(walk, walker, post_walk_is_outside(walker));
	while (walker->count > count) {
		const struct post_walk_frame *frame = &walker->frames[--walker->count];

		if (!frame->between)
			continue;
		walker->base = frame->base;
		post_walk_decide(walk, walker, frame->outside);
	}
	walker->entered = false;
}

void post_walk_forget(struct post_walk *walk, struct post_walker *walker)
{
	walker->base = 0;
	post_walk_prove(walk, walker);
}

void post_walk_end_thread(struct post_walk *walk, struct post_walker *walker)
{
	bool over = walker->at.state == POST_WALK_NOWHERE || post_walk_is_outside(walker);

	for (size_t i = walker->count;; i--) {
		post_walk_decide(walk, walker, walk->ended && over);
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

static void *copied(const void *items, size_t count, size_t size)
{
	void *copy = post_allocate(count + 1, size);

	return count ? memcpy(copy, items, count * size) : copy;
}

void post_walk_begin_to_look(const struct post_walk *walk, struct post_walk *ahead,
			     struct post_path_totals *unused)
{
	*ahead = *walk;
	ahead->looking = true;
	ahead->totals = unused;
	ahead->held = NULL;
	ahead->held_first = ahead->held_count = ahead->held_capacity = 0;
	ahead->walkers = copied(walk->walkers, walk->count, sizeof(*walk->walkers));
	ahead->capacity = walk->count;
	for (size_t i = 0; i < walk->count; i++) {
		struct post_walker *walker = &ahead->walkers[i];

		walker->frames = copied(walker->frames, walker->count, sizeof(*walker->frames));
		walker->capacity = walker->count;
		walker->open.items =
			copied(walker->open.items, walker->open.count, sizeof(*walker->open.items));
		walker->open.capacity = walker->open.count;
	}
}

void post_walk_have_looked(struct post_walk *walk, struct post_walk *ahead)
{
	uint64_t number = walk->given - walk->held_count;

	if (ahead->unproved.count)
		qsort(ahead->unproved.items, ahead->unproved.count, sizeof(*ahead->unproved.items),
		      by_number);
	walk->unproved = ahead->unproved;
	walk->known = true;
	post_walk_release(ahead);
	for (size_t i = 0; i < walk->held_count; i++, number++) {
		struct post_walk_held *held = &walk->held[walk->held_first + i];

		if (held->open && post_walk_is_unproved(walk, number))
			held->step.kind = POST_PATH_POSSIBLE;
		held->open = false;
	}
	hand_on_held(walk);
	for (size_t i = 0; i < walk->count; i++) {
		struct post_walker *walker = &walk->walkers[i];

		walker->open.count = walker->base = 0;
		for (size_t j = 0; j < walker->count; j++)
			walker->frames[j].base = 0;
	}
}

void post_walk_end_held(struct post_walk *walk)
{
	for (size_t i = 0; i < walk->held_count; i++)
		walk->held[walk->held_first + i].open = false;
	hand_on_held(walk);
	free(walk->held);
	free(walk->unproved.items);
}

void post_walk_release(struct post_walk *walk)
{
	for (size_t i = 0; i < walk->count; i++) {
		free(walk->walkers[i].frames);
		free(walk->walkers[i].open.items);
	}
	free(walk->walkers);
}
