#include "postproc/sources/span_lanes.h"

#include <stdlib.h>
#include <string.h>

#include "postproc/table.h"

/* A function that is called back by code without traced calls has its stack so near below the
 * last traced call, in units of the stack pointer; the stacks of two tasks are not so near. */
#define CALLED_BACK 64u

/* More are taken as one: stack pointers that make no sense, not tasks. */
#define LANES_MAX 256u

#define TIMED_WORDS(kind, following) LITIFUT_CONTROL_WORD(kind, (following) + 1)

/* A call that has not returned. */
struct open_call {
	const struct litifut_site *site;
	uint32_t callee; /* its function, 0: not known */
	uint16_t stack;
};

struct lane {
	struct open_call *open;
	size_t depth, capacity;
	uint32_t *words;
	size_t word_count, word_capacity;
	uint64_t time, start;
	bool has_time, has_calls;
	/* Of the first call: a task has its stack pointer again when nothing is open. */
	uint32_t caller;
	uint16_t stack;
};

struct maker {
	const struct post_image *image;
	struct post_span_losses *losses;
	struct lane *lanes;
	size_t count, capacity;
	size_t first; /* lane of this run of the device; those before it have ended */
	size_t now;   /* the lane that has had the last event */
};

/* Where the function begins that has this address, 0: there is none. */
static uint32_t function_of(const struct maker *maker, uint32_t address)
{
	const struct post_symbol *symbol = post_symbols_find(&maker->image->symbols, address & ~1u);

	return symbol ? symbol->address : 0;
}

static void word(struct lane *lane, uint32_t value)
{
	POST_GROW(lane->words, lane->word_count, lane->word_capacity);
	lane->words[lane->word_count++] = value;
}

/* The time at the end of an event's words: its low bits, which are never 0. */
static void low_time(struct lane *lane, uint64_t time)
{
	word(lane, (uint32_t)time ? (uint32_t)time : 1);
}

static void event_words(struct lane *lane, uint64_t time, enum litifut_word_kind kind,
			uint32_t first, uint32_t second)
{
	if (!lane->has_time)
		lane->start = time;
	else if (time - lane->time > INT32_MAX / 2) {
		word(lane, LITIFUT_CONTROL_WORD(LITIFUT_WORD_TIME, 2));
		word(lane, (uint32_t)time);
		word(lane, (uint32_t)(time >> 32));
	}
	lane->time = time;
	lane->has_time = true;
	if (kind == LITIFUT_WORD_MARK) {
		word(lane, TIMED_WORDS(kind, 1));
		word(lane, first);
	} else {
		word(lane, TIMED_WORDS(kind, 2));
		word(lane, first);
		word(lane, second);
	}
	low_time(lane, time);
}

static struct lane *add_lane(struct maker *maker)
{
	if (maker->count == LANES_MAX) {
		maker->first = maker->now = 0;
		return &maker->lanes[0];
	}
	POST_GROW(maker->lanes, maker->count, maker->capacity);
	maker->lanes[maker->count] = (struct lane){0};
	maker->now = maker->count++;
	return &maker->lanes[maker->now];
}

static struct lane *lane_now(struct maker *maker)
{
	return maker->count > maker->first ? &maker->lanes[maker->now] : add_lane(maker);
}

/* Which open call of this lane has entered the function that makes a call with this stack pointer:
 * its place + 1, 0: none. The stack of the interrupted code may be anywhere. */
static size_t find_caller(const struct lane *lane, uint32_t caller, uint16_t stack)
{
	for (size_t at = lane->depth; at; at--) {
		const struct open_call *open = &lane->open[at - 1];

		if (open->callee == caller && open->stack >= stack)
			return at;
	}
	return 0;
}

/* The lane of a call by this function, whose calls that can't be open any more are dropped. */
static struct lane *choose_lane(struct maker *maker, uint32_t caller, uint16_t stack)
{
	struct lane *lane = lane_now(maker);
	const struct open_call *top = lane->depth ? &lane->open[lane->depth - 1] : NULL;
	uint32_t least = UINT32_MAX;
	size_t best = maker->count, depth = 0;

	if (top && top->callee == caller && top->stack >= stack)
		return lane;
	for (size_t i = maker->first; i < maker->count && caller; i++) {
		const size_t at = find_caller(&maker->lanes[i], caller, stack);
		const uint32_t distance =
			at ? (uint32_t)maker->lanes[i].open[at - 1].stack - stack : UINT32_MAX;

		if (distance < least) {
			least = distance;
			best = i;
			depth = at;
		}
	}
	if (best < maker->count) {
		maker->now = best;
		lane = &maker->lanes[best];
		/* Code of this function may be run for another one, which has jumped there. */
		while (depth < lane->depth && lane->open[depth].stack > stack)
			depth++;
		lane->depth = depth;
		return lane;
	}
	for (size_t i = maker->first; i < maker->count; i++) {
		lane = &maker->lanes[i];
		if (!lane->depth && lane->caller == caller && lane->stack == stack) {
			maker->now = i;
			return lane;
		}
	}
	lane = lane_now(maker);
	if (!lane->has_calls ||
	    (top && top->stack >= stack && (uint32_t)top->stack - stack <= CALLED_BACK))
		return lane;
	return add_lane(maker);
}

/* A call; `callee` is that of a pointer. */
static void take_call(struct maker *maker, const struct post_span_event *event, uint32_t callee)
{
	const uint32_t number = event->number - LITIFUT_SPAN_SITE;

	if (number >= maker->image->patched_count) {
		maker->losses->unknown++;
		return;
	}
	const struct litifut_site *site = maker->image->patched[number];
	const uint16_t stack = (uint16_t)event->value;
	const uint32_t caller = function_of(maker, site->address);
	struct lane *lane = site->kind == LITIFUT_SITE_VECTOR ? lane_now(maker)
							      : choose_lane(maker, caller, stack);

	if (!lane->has_calls) {
		lane->has_calls = true;
		lane->caller = caller;
		lane->stack = stack;
	}
	if (litifut_site_is_tail(site))
		event_words(lane, event->time, LITIFUT_WORD_TAIL, site->return_address,
			    callee ? callee : site->callee);
	else if (litifut_site_is_pointer(site) && callee)
		event_words(lane, event->time, LITIFUT_WORD_INDIRECT, site->return_address, callee);
	else
		event_words(lane, event->time, LITIFUT_WORD_ENTER, site->return_address,
			    stack + 1u);
	/* Where the return of a tail call is not recorded, it ends with the call below it. */
	if (!site->exit && !litifut_site_is_tail(site))
		return;
	if (!callee)
		callee = site->callee;
	POST_GROW(lane->open, lane->depth, lane->capacity);
	lane->open[lane->depth++] =
		(struct open_call){site, callee ? function_of(maker, callee) : 0, stack};
}

static void take_return(struct maker *maker, const struct post_span_event *event)
{
	const uint16_t stack = (uint16_t)event->value;

	/* Mostly in the lane of the last event; its own order is that of the calls. */
	for (size_t i = 0; i < maker->count - maker->first; i++) {
		const size_t number = maker->first + (maker->now + i - maker->first) %
							     (maker->count - maker->first);
		struct lane *lane = &maker->lanes[number];
		size_t at = lane->depth;

		while (at && (lane->open[at - 1].stack != stack || !lane->open[at - 1].site->exit))
			at--;
		if (!at)
			continue;
		const struct litifut_site *site = lane->open[at - 1].site;

		lane->depth = at - 1;
		maker->now = number;
		/* What was called last by a tail call ends with the call that entered its caller.
		 */
		if (!litifut_site_is_tail(site))
			event_words(lane, event->time, LITIFUT_WORD_EXIT, site->exit, stack + 1u);
		return;
	}
	maker->losses->returns++;
}

/* In all lanes, as none of their calls is known to be still open; the number is in one. */
static void take_loss(struct maker *maker, const struct post_span_event *event)
{
	const struct lane *now = lane_now(maker);

	for (size_t i = maker->first; i < maker->count; i++) {
		struct lane *lane = &maker->lanes[i];

		if (lane != now && !lane->depth)
			continue;
		word(lane, LITIFUT_CONTROL_WORD(LITIFUT_WORD_LOST, 1));
		word(lane, lane == now ? event->value : 0);
	}
}

static void take_event(struct maker *maker, const struct post_span_event *event,
		       const struct post_span_event *before)
{
	switch (event->number) {
	case LITIFUT_SPAN_RETURN:
		take_return(maker, event);
		break;
	case LITIFUT_SPAN_LOST:
		take_loss(maker, event);
		break;
	case LITIFUT_SPAN_MARK:
		event_words(lane_now(maker), event->time, LITIFUT_WORD_MARK, event->value, 0);
		break;
	case LITIFUT_SPAN_RESET:
		maker->first = maker->count;
		break;
	case LITIFUT_SPAN_CALLEE: /* see below */
	case LITIFUT_SPAN_CLOCK:
		break;
	default:
		take_call(maker, event,
			  before && before->number == LITIFUT_SPAN_CALLEE ? before->value : 0);
	}
}

/* The lanes' words, one behind the other, as chunks of the trace. */
static void make_chunks(const struct maker *maker, struct post_trace *trace)
{
	size_t words = 0;

	for (size_t i = 0; i < maker->count; i++)
		words += maker->lanes[i].word_count;
	uint32_t *data = post_allocate(words + 1, sizeof(*data));

	trace->owned = (uint8_t *)data;
	trace->data = trace->owned;
	trace->size = words * sizeof(*data);
	words = 0;
	for (size_t i = 0; i < maker->count; i++) {
		const struct lane *lane = &maker->lanes[i];

		if (!lane->word_count)
			continue;
		memcpy(data + words, lane->words, lane->word_count * sizeof(*data));
		POST_GROW(trace->chunks, trace->chunk_count, trace->chunk_capacity);
		trace->chunks[trace->chunk_count++] = (struct post_chunk){
			.offset = words * sizeof(*data),
			.word_count = (uint32_t)lane->word_count,
			.thread = (uint32_t)i + 1,
			.number = (uint32_t)i + 1,
			.flags = LITIFUT_CHUNK_TIMED,
			.start_time = lane->start,
		};
		words += lane->word_count;
	}
}

void post_span_lanes_make(const struct post_span_events *events, const struct post_image *image,
			  struct post_trace *trace, struct post_span_losses *losses)
{
	struct maker maker = {.image = image, .losses = losses};

	memset(losses, 0, sizeof(*losses));
	for (size_t i = 0; i < events->count; i++)
		take_event(&maker, &events->items[i], i ? &events->items[i - 1] : NULL);
	make_chunks(&maker, trace);
	for (size_t i = 0; i < maker.count; i++) {
		free(maker.lanes[i].open);
		free(maker.lanes[i].words);
	}
	free(maker.lanes);
}
