/* report --phase: which functions are called only before something happens, only after it, or both,
 * and how long they take there: what a start does that could be done later. */
#include "postproc/formats/phases.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "postproc/measure/edges.h"
#include "postproc/measure/measure.h"
#include "postproc/model/clock.h"
#include "postproc/timeline/nesting.h"

struct part {
	uint64_t calls;
	double self; /* ns */
};

struct row {
	struct part parts[2]; /* before and after */
	uint64_t first;       /* ns, when it was first called */
	bool seen;
};

/* A call that was open when it happened. */
struct open_call {
	uint32_t function;
	uint64_t time;   /* of its enter, ticks */
	uint64_t before; /* its self time until it happened, ticks */
};

/* Those of a lane, outermost first. */
struct lane {
	struct open_call *calls;
	size_t count;
};

struct state {
	struct lane *lanes; /* once it has happened; later lanes have no such calls */
	size_t lane_count;
	struct row *rows; /* by function */
	size_t count;
	bool after;     /* it has happened */
	bool timed;     /* some return has a time */
	bool clocks;    /* all processes have one, so that events come in order */
	uint64_t start; /* ns, of the first event */
	uint64_t when;  /* ns from there: when it happened */
	bool started;
};

static void start(struct post_output *output)
{
	struct state *state = post_allocate(1, sizeof(*state));
	const struct post_session *session = output->session;

	state->clocks = true;
	for (size_t i = 0; i < session->process_count; i++)
		state->clocks &= post_clock_runs(session->processes[i]);
	output->state = state;
}

/* The first call of a function, or a mark of the program, or a time. */
static bool happens(const struct post_output *output, const struct post_timeline_event *event,
		    uint64_t now)
{
	const struct post_phase *phase = &output->options.phase;
	const struct state *state = output->state;
	const char *const globs[] = {phase->function, NULL};

	if (phase->by_time)
		return state->clocks && now - state->start >= phase->time_ns;
	if (event->kind == POST_EVENT_MARK)
		return phase->by_mark && event->value == phase->mark;
	return phase->function && event->kind == POST_EVENT_ENTER &&
	       post_function_matches(output->session, globs, event->callee);
}

/* The clock of a process at `now`, in ns; `latest` is a reading near it. */
static uint64_t ticks_at(const struct post_process *process, uint64_t now, uint64_t latest)
{
	const uint64_t hertz = post_clock_hertz(process);
	const int64_t ns = (int64_t)(now - post_clock_ns(process, latest));

	return latest + (uint64_t)(hertz ? (int64_t)((double)ns * (double)hertz / 1e9) : ns);
}

/* The self times of the open calls of a lane at `when`, in ticks. */
static void split_lane(struct lane *lane, const struct post_stack *stack, uint64_t when,
		       const struct post_timeline_event *leave)
{
	static const unsigned timeless = POST_EVENT_CUT | POST_EVENT_APPROX;
	uint64_t end = when;

	lane->count = leave ? leave->depth + 1 : stack->depth;
	lane->calls = post_allocate(lane->count + 1, sizeof(*lane->calls));
	for (size_t at = lane->count; at-- > 0;) {
		const struct post_frame *frame = &stack->frames[at];
		uint64_t child = frame->child;
		if (leave && at + 1 == leave->depth) /* the leave has added its time */
			child -= (leave->flags & timeless) && !(leave->flags & POST_EVENT_GUESSED)
					 ? frame[1].child
					 : stack->time - frame[1].time;
		lane->calls[at] = (struct open_call){
			.function = frame->function,
			.time = frame->time,
			.before = end > frame->time + child ? end - frame->time - child : 0,
		};
		end = when < frame->time ? when : frame->time;
	}
}

/* It happens at `now`, in ns: keeps the self time so far of each call that is open. `event` is the
 * one that shows it; a call that it leaves was still open. */
static void split_open(const struct post_output *output, const struct post_timeline_event *event,
		       uint64_t now)
{
	const struct post_session *session = output->session;
	struct state *state = output->state;

	state->lane_count = session->lane_count;
	state->lanes = post_allocate(session->lane_count + 1, sizeof(*state->lanes));
	for (uint32_t i = 0; i < session->lane_count; i++) {
		const struct post_process *process = session->processes[session->lanes[i]->process];
		const struct post_stack *stack = session->lanes[i]->stack;
		bool leaves = event->lane == i && event->kind == POST_EVENT_LEAVE;
		if (stack && post_clock_runs(process))
			split_lane(&state->lanes[i], stack,
				   ticks_at(process, now, stack->time + stack->taken) -
					   stack->taken,
				   leaves ? event : NULL);
	}
}

/* How much of its self time a call that is left had before it happened. */
static uint64_t self_before(const struct post_output *output,
			    const struct post_timeline_event *event)
{
	const struct state *state = output->state;
	const struct post_frame *frame = post_nesting_frame(output->session, event);

	if (!state->after)
		return event->value;
	if (event->lane >= state->lane_count || event->depth >= state->lanes[event->lane].count)
		return 0;
	const struct open_call *call = &state->lanes[event->lane].calls[event->depth];
	if (call->function != frame->function || call->time != frame->time)
		return 0;
	return call->before < event->value ? call->before : event->value;
}

static void event(void *context, const struct post_timeline_event *event)
{
	static const unsigned unknown = POST_EVENT_CUT | POST_EVENT_OPEN | POST_EVENT_GUESSED |
					POST_EVENT_APPROX | POST_EVENT_BEFORE;
	struct post_output *output = context;
	const struct post_process *process = post_event_process(output, event);
	struct state *state = output->state;
	uint64_t now =
		post_clock_runs(process) ? post_clock_ns(process, post_event_clock(event)) : 0;

	if (!state->started)
		state->start = now;
	state->started = true;
	if (!state->after && happens(output, event, now)) {
		state->after = true;
		state->when = output->options.phase.by_time ? output->options.phase.time_ns
							    : now - state->start;
		split_open(output, event, state->start + state->when);
	}
	if (event->kind > POST_EVENT_LEAVE || event->site == POST_NONE)
		return;
	POST_WIDEN(state->rows, state->count, event->callee, output->session->function_capacity);
	struct row *row = &state->rows[event->callee];
	if (event->kind == POST_EVENT_ENTER && post_event_is_call(event)) {
		row->parts[state->after].calls++;
		if (!row->seen)
			row->first = now - state->start;
		row->seen = true;
	} else if (event->kind == POST_EVENT_LEAVE && !(event->flags & unknown) &&
		   process->returns && post_clock_runs(process)) {
		uint64_t hertz = post_clock_hertz(process), before = self_before(output, event);
		double unit = hertz ? 1e9 / (double)hertz : 1;
		row->parts[0].self += (double)before * unit;
		row->parts[1].self += (double)(event->value - before) * unit;
		state->timed = true;
	}
}

enum kind { ONLY_BEFORE, BOTH, ONLY_AFTER };

static enum kind kind_of(const struct row *row)
{
	const struct part *before = &row->parts[0], *after = &row->parts[1];

	return !after->calls && after->self <= 0     ? ONLY_BEFORE
	       : !before->calls && before->self <= 0 ? ONLY_AFTER
						     : BOTH;
}

static int compare(const void *left, const void *right, void *context)
{
	const struct post_output *output = context;
	const struct state *state = output->state;
	uint32_t x = *(const uint32_t *)left, y = *(const uint32_t *)right;
	const struct row *a = &state->rows[x], *b = &state->rows[y];

	if (kind_of(a) != kind_of(b))
		return kind_of(a) < kind_of(b) ? -1 : 1;
	double p = a->parts[0].self + a->parts[1].self, q = b->parts[0].self + b->parts[1].self;
	if (p != q)
		return p > q ? -1 : 1;
	uint64_t c = a->parts[0].calls + a->parts[1].calls;
	uint64_t d = b->parts[0].calls + b->parts[1].calls;
	if (c != d)
		return c > d ? -1 : 1;
	return post_function_compare(output->session, x, y);
}

static void write_time(FILE *file, double ns)
{
	const struct post_measures unit = {.hertz = 1000000000u};
	char text[64];

	fprintf(file, " %12s", post_measures_text(&unit, (uint64_t)(ns + 0.5), text, sizeof(text)));
}

static void write_row(const struct post_output *output, uint32_t number)
{
	const struct post_session *session = output->session;
	const struct state *state = output->state;
	const struct row *row = &state->rows[number];
	FILE *file = output->file;

	fprintf(file, "%12" PRIu64 " %12" PRIu64, row->parts[0].calls, row->parts[1].calls);
	if (state->timed) {
		write_time(file, row->parts[0].self);
		write_time(file, row->parts[1].self);
	}
	if (state->clocks)
		write_time(file, (double)row->first);
	fprintf(file, "  %s [%s]\n", session->functions[number].name,
		session->modules[session->functions[number].module].name);
}

static void finish(struct post_output *output)
{
	static const char *const titles[] = {"only before", "before and after", "only after"};
	const struct post_session *session = output->session;
	struct state *state = output->state;
	const struct post_measures unit = {.hertz = 1000000000u};
	uint32_t *order = post_allocate(state->count + 1, sizeof(*order));
	size_t count = 0;
	int last = -1;
	uint64_t rows = 0;
	char text[64];

	for (uint32_t i = 0; i < state->count; i++) {
		if (state->rows[i].parts[0].calls || state->rows[i].parts[1].calls)
			order[count++] = i;
	}
	qsort_r(order, count, sizeof(*order), compare, output);
	if (!state->after)
		post_problem_at(session->problems, NULL, LITIFUT_NO_ADDRESS,
				"%s did not happen in this trace: all calls are before it",
				output->options.phase.text);
	else if (state->clocks)
		fprintf(output->file, "# %s: %s after the first event\n",
			output->options.phase.text,
			post_measures_text(&unit, state->when, text, sizeof(text)));
	if (!state->clocks && session->lane_count > 1)
		fputs("# Without a clock in all traces the threads follow one another: before and "
		      "after are those of that order.\n",
		      output->file);
	for (size_t i = 0; i < count; i++) {
		int kind = (int)kind_of(&state->rows[order[i]]);
		if (kind != last) {
			fprintf(output->file, "%s%s:\n%12s %12s", last < 0 ? "" : "\n",
				titles[kind], "calls before", "after");
			if (state->timed)
				fprintf(output->file, " %12s %12s", "self before", "after");
			if (state->clocks)
				fprintf(output->file, " %12s", "first call");
			fputs("  function [module]\n", output->file);
			rows = 0;
		}
		last = kind;
		if (!output->options.top || rows++ < output->options.top)
			write_row(output, order[i]);
	}
	free(order);
	for (size_t i = 0; i < state->lane_count; i++)
		free(state->lanes[i].calls);
	free(state->lanes);
	free(state->rows);
	free(state);
}

const struct post_format post_format_phases = {
	.name = "report",
	.summary = "functions before and after something",
	.uses = POST_USES_TOP | POST_USES_PHASE,
	.nested = true,
	.start = start,
	.event = event,
	.finish = finish,
};
