#include <stddef.h>

#include "node.h"

#define EVENTS 8
#define TIMERS 4

static event_handler *events[EVENTS];
static uint8_t posted, taken;

static struct timer {
	event_handler *handler;
	uint8_t seconds;
	uint16_t due;
} timers[TIMERS];

static bool events_are_full(void)
{
	return (uint8_t)(posted - taken) == EVENTS;
}

bool event_post(event_handler *handler)
{
	if (events_are_full())
		return false;
	events[posted++ % EVENTS] = handler;
	return true;
}

static event_handler *event_take(void)
{
	return posted == taken ? NULL : events[taken++ % EVENTS];
}

void events_run(void)
{
	event_handler *handler;

	while ((handler = event_take()))
		handler();
}

bool timer_start(event_handler *handler, uint8_t seconds)
{
	for (uint8_t i = 0; i < TIMERS; i++)
		if (!timers[i].handler) {
			timers[i] = (struct timer){handler, seconds, board_seconds() + seconds};
			return true;
		}
	return false;
}

static bool timer_is_due(const struct timer *timer)
{
	return timer->handler && (int16_t)(board_seconds() - timer->due) >= 0;
}

void timers_run(void)
{
	for (uint8_t i = 0; i < TIMERS; i++)
		if (timer_is_due(&timers[i])) {
			timers[i].due += timers[i].seconds;
			event_post(timers[i].handler);
		}
}
