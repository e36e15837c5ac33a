/* Filters; the calls that they leave out are counted nowhere. */
#include "postproc/timeline/filter.h"

#include <stdlib.h>
#include <string.h>

#include "postproc/model/clock.h"
#include "postproc/sources/arguments.h"
#include "postproc/timeline/nesting.h"

/* An open function of a lane. */
struct open {
	struct post_timeline_event enter;
	uint32_t inside; /* functions of `only` among this and those below */
	bool shown, pushed;
	uint64_t below; /* own time of calls in it that are too deep or too short to be shown */
	struct post_call_arguments *arguments; /* of `enter`, if it is kept; owned; or NULL */
};

struct post_filter_lane {
	struct open *open;
	uint32_t depth, capacity;
	uint32_t without; /* depth + 1 of the function of `without` that it is inside of; 0: none */
	uint32_t shown;   /* functions that are shown */
};

enum verdict { UNKNOWN = 0, OTHER = 1, ONLY = 2, WITHOUT = 4 };

static uint8_t verdict_of(struct post_filter *filter, uint32_t function)
{
	const struct post_filter_options *options = filter->options;

	if (function >= filter->verdict_count) {
		size_t count = filter->session->function_count;
		filter->verdicts = post_reallocate(filter->verdicts, count, 1);
		memset(filter->verdicts + filter->verdict_count, 0, count - filter->verdict_count);
		filter->verdict_count = count;
	}
	uint8_t *verdict = &filter->verdicts[function];
	if (*verdict == UNKNOWN) {
		*verdict = OTHER;
		if (post_function_matches(filter->session, options->only, function))
			*verdict |= ONLY;
		if (post_function_matches(filter->session, options->without, function))
			*verdict |= WITHOUT;
	}
	return *verdict;
}

static struct post_filter_lane *lane_of(struct post_filter *filter, uint32_t number)
{
	if (number >= filter->lane_count) {
		size_t count = filter->session->lane_capacity;
		filter->lanes = post_reallocate(filter->lanes, count, sizeof(*filter->lanes));
		memset(filter->lanes + filter->lane_count, 0,
		       (count - filter->lane_count) * sizeof(*filter->lanes));
		filter->lane_count = count;
	}
	return &filter->lanes[number];
}

static void push_enter(struct post_filter *filter, struct open *open)
{
	const struct post_timeline_event *event = &open->enter;

	open->pushed = true;
	if (event->site != POST_NONE && !(event->flags & POST_EVENT_BEFORE))
		filter->session->calls[event->site].count++;
	filter->sink->push(filter->sink->context, event);
}

/* Sinks look at the number of the frame below, which may be left out. */
static void inherit_number(const struct post_filter *filter,
			   const struct post_timeline_event *event)
{
	struct post_frame *frame = post_nesting_frame(filter->session, event);

	frame->number = event->depth ? frame[-1].number : POST_NONE;
}

static void enter(struct post_filter *filter, const struct post_timeline_event *event)
{
	const struct post_filter_options *options = filter->options;
	struct post_filter_lane *lane = lane_of(filter, event->lane);
	uint8_t verdict = verdict_of(filter, event->callee);

	POST_GROW(lane->open, lane->depth, lane->capacity);
	struct open *open = &lane->open[lane->depth++];
	*open = (struct open){.enter = *event};
	open->inside = (lane->depth > 1 ? open[-1].inside : 0) + !!(verdict & ONLY);
	if (!lane->without && verdict & WITHOUT)
		lane->without = lane->depth;
	open->shown = !lane->without && (!options->only || open->inside) &&
		      (!options->deepest || lane->shown < options->deepest);
	lane->shown += open->shown;
	inherit_number(filter, event);
	if (open->shown && !options->shortest_ns)
		push_enter(filter, open);
	open->enter.arguments = NULL;
	if (!open->shown || open->pushed || !event->arguments)
		return;
	open->arguments = post_allocate(1, sizeof(*open->arguments));
	*open->arguments = *event->arguments;
	open->enter.arguments = open->arguments;
}

static bool is_long(const struct post_filter *filter, const struct post_timeline_event *event)
{
	const struct post_process *process =
		filter->session->processes[filter->session->lanes[event->lane]->process];
	const struct post_frame *frame = post_nesting_frame(filter->session, event);
	uint64_t hertz = post_clock_hertz(process);
	double ns = (double)(event->time - frame->time) * (hertz ? 1e9 / (double)hertz : 1);

	return ns >= (double)filter->options->shortest_ns;
}

static void leave(struct post_filter *filter, const struct post_timeline_event *event)
{
	struct post_filter_lane *lane = lane_of(filter, event->lane);

	if (!lane->depth)
		return;
	struct open *open = &lane->open[lane->depth - 1];
	/* What was not pushed yet lasts at least as long as what is inside of it. */
	if (open->shown && !open->pushed && is_long(filter, event)) {
		for (uint32_t i = 0; i < lane->depth; i++) {
			if (!lane->open[i].pushed)
				inherit_number(filter, &lane->open[i].enter);
			if (lane->open[i].shown && !lane->open[i].pushed)
				push_enter(filter, &lane->open[i]);
		}
	}
	bool too_deep = !open->shown && !lane->without && (!filter->options->only || open->inside);
	struct post_timeline_event with = *event;
	with.value += open->below;
	if (!open->pushed && lane->depth > 1 && (open->shown || too_deep))
		open[-1].below += with.value;
	free(open->arguments);
	open->arguments = NULL;
	lane->depth--;
	lane->shown -= open->shown;
	if (lane->without > lane->depth)
		lane->without = 0;
	if (open->pushed)
		filter->sink->push(filter->sink->context, &with);
}

void post_filter_push(void *context, const struct post_timeline_event *event)
{
	struct post_filter *filter = context;

	if (event->kind == POST_EVENT_ENTER)
		enter(filter, event);
	else if (event->kind == POST_EVENT_LEAVE)
		leave(filter, event);
	else
		filter->sink->push(filter->sink->context, event);
}

void post_filter_release(struct post_filter *filter)
{
	for (size_t i = 0; i < filter->lane_count; i++) {
		for (uint32_t o = 0; o < filter->lanes[i].depth; o++)
			free(filter->lanes[i].open[o].arguments);
		free(filter->lanes[i].open);
	}
	free(filter->lanes);
	free(filter->verdicts);
}
