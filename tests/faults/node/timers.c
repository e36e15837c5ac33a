/* Timers: a list in the order in which they fire. Those that fire in the same tick do so in the
 * order in which they were started. */
#include "system.h"

#include <stddef.h>
#include <stdlib.h>

#define TIMERS 24

struct timer {
	void (*fired)(void);
	unsigned at, every;
	struct timer *next;
};

static struct timer timers[TIMERS];
static struct timer *first;
static unsigned late;

static struct timer *free_timer(void)
{
	for (unsigned i = 0; i < TIMERS; i++)
		if (!timers[i].fired)
			return &timers[i];
	abort();
}

static void insert(struct timer *timer)
{
	struct timer **place = &first;

	while (*place && (int)((*place)->at - timer->at) <= 0)
		place = &(*place)->next;
	timer->next = *place;
	*place = timer;
	interrupts.timers = first->at;
}

void timer_start(void (*fired)(void), unsigned after, unsigned every)
{
	struct timer *timer = free_timer();

	timer->fired = fired;
	timer->at = node_time() + (after ? after : 1);
	timer->every = every;
	insert(timer);
}

bool timer_stop(void (*fired)(void))
{
	for (struct timer **place = &first; *place; place = &(*place)->next) {
		struct timer *timer = *place;

		if (timer->fired != fired)
			continue;
		*place = timer->next;
		timer->fired = NULL;
		return true;
	}
	return false;
}

/* Takes it out of the list, and back if it is a periodic one. */
static void fire(struct timer *timer)
{
	void (*fired)(void) = timer->fired;

	first = timer->next;
	if (timer->at != node_time())
		late++;
	if (timer->every) {
		timer->at += timer->every;
		insert(timer);
	} else {
		timer->fired = NULL;
	}
	fired();
}

void timers_interrupt(void)
{
	while (first && (int)(first->at - node_time()) <= 0)
		fire(first);
	interrupts.timers = first ? first->at : NEVER;
}

unsigned timers_late(void)
{
	return late;
}
