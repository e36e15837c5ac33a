/* A call without others in it has a length and a number of interrupts. If the function works, calls
 * of the same arguments are as long as each other once the interrupts are taken out; if it waits,
 * they are so with them. So the lengths are sorted in both ways, and neighbours with different
 * numbers of interrupts that are nearly the same speak for the one or the other. */
#include "postproc/energy/waits.h"

#include <stdlib.h>

#include "common/memory.h"

/* So many such neighbours decide, if they are so many times as many as in the other way. */
#define ENOUGH 8
#define TIMES 4

struct call {
	uint32_t function;
	uint32_t interrupts;
	size_t number; /* in the order of time */
	double seconds;
};

static int by_function(const void *left, const void *right)
{
	const struct call *a = left, *b = right;

	if (a->function != b->function)
		return a->function < b->function ? -1 : 1;
	return (a->number > b->number) - (a->number < b->number);
}

static int by_seconds(const void *left, const void *right)
{
	const struct call *a = left, *b = right;

	if (a->seconds != b->seconds)
		return a->seconds < b->seconds ? -1 : 1;
	return (a->number > b->number) - (a->number < b->number);
}

/* Neighbours that are nearer than `least`, with `each` taken out for an interrupt. Sorts the calls.
 */
static size_t near_ones(struct call *calls, size_t count, double each, double least)
{
	size_t near = 0;

	for (size_t i = 0; i < count; i++)
		calls[i].seconds -= each * calls[i].interrupts;
	qsort(calls, count, sizeof(*calls), by_seconds);
	for (size_t i = 1; i < count; i++)
		near += calls[i].interrupts != calls[i - 1].interrupts &&
			calls[i].seconds - calls[i - 1].seconds < least;
	return near;
}

static enum energy_waiting waiting_of(struct call *calls, size_t count, double interrupt)
{
	const size_t with = near_ones(calls, count, 0, interrupt / 4);
	const size_t without = near_ones(calls, count, interrupt, interrupt / 4);

	if (with >= ENOUGH && with >= TIMES * without)
		return ENERGY_WAITS;
	if (without >= ENOUGH && without >= TIMES * with)
		return ENERGY_WORKS;
	return ENERGY_MAY_WAIT;
}

static size_t take_calls(const struct energy_events *events, struct call *calls)
{
	size_t count = 0;

	for (size_t i = 1; i < events->count; i++) {
		const struct energy_event *enter = &events->items[i - 1];
		const struct energy_event *leave = &events->items[i];
		if ((enter->kind != ENERGY_EVENT_ENTER && enter->kind != ENERGY_EVENT_TAIL) ||
		    leave->kind != ENERGY_EVENT_LEAVE || leave->lane != enter->lane)
			continue;
		if (calls)
			calls[count] = (struct call){
				.function = enter->function,
				.interrupts =
					(uint32_t)(energy_events_overflows(events, leave->time) -
						   energy_events_overflows(events, enter->time)),
				.number = i,
				.seconds = energy_events_seconds(events, leave->time) -
					   energy_events_seconds(events, enter->time)};
		count++;
	}
	return count;
}

enum litifut_status energy_waits_find(struct energy_events *events, double interrupt,
				      struct litifut_error *error)
{
	free(events->waits);
	events->waits = NULL;
	events->waits_count = 0;
	if (!(events->overflow_period > 0) || !(interrupt > 0))
		return LITIFUT_OK;
	const size_t count = take_calls(events, NULL);
	struct call *calls = litifut_memory_array(count + 1, sizeof(*calls));
	if (calls) {
		take_calls(events, calls);
		qsort(calls, count, sizeof(*calls), by_function);
		events->waits_count = count ? (size_t)calls[count - 1].function + 1 : 0;
		events->waits = calloc(events->waits_count + 1, sizeof(*events->waits));
	}
	if (!events->waits) {
		free(calls);
		events->waits_count = 0;
		return litifut_error_set(error, LITIFUT_ERROR_IO, NULL, NULL, LITIFUT_NO_ADDRESS,
					 "not enough memory for the calls");
	}
	for (size_t from = 0, to; from < count; from = to) {
		for (to = from; to < count && calls[to].function == calls[from].function;)
			to++;
		/* which sorts the calls of this function otherwise */
		const uint32_t function = calls[from].function;
		events->waits[function] = waiting_of(&calls[from], to - from, interrupt);
	}
	free(calls);
	return LITIFUT_OK;
}
