/* histogram: how long the calls of a function took, from call to return. Four bins for each
 * doubling of the time, so that a bin is at most a quarter wide. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "postproc/formats/format.h"
#include "postproc/formats/losses.h"
#include "postproc/formats/near.h"
#include "postproc/measure/measure.h"
#include "postproc/model/clock.h"
#include "postproc/timeline/nesting.h"

#define PARTS 4u
#define BINS (64u * PARTS)
#define BAR 40u
#define LONGEST_GAP 4u /* of empty bins that are shown */

struct latency {
	uint64_t count, least, most;
	uint64_t bins[BINS];
};

struct state {
	uint8_t *verdicts; /* by function: 0 not asked, 1 no, 2 yes */
	struct latency **items;
	size_t count;
	bool some;
};

static void start(struct post_output *output)
{
	output->state = post_allocate(1, sizeof(struct state));
}

static unsigned bin_of(uint64_t ns)
{
	unsigned octave;

	if (ns < PARTS)
		return (unsigned)ns;
	octave = 63 - (unsigned)__builtin_clzll(ns);
	return (octave - 1) * PARTS + (unsigned)(ns >> (octave - 2) & (PARTS - 1));
}

/* The first duration of a bin. */
static uint64_t bin_start(unsigned bin)
{
	return bin < PARTS ? bin : (uint64_t)(PARTS + bin % PARTS) << (bin / PARTS - 1);
}

static void event(void *context, const struct post_timeline_event *event)
{
	static const unsigned unknown = POST_EVENT_CUT | POST_EVENT_OPEN | POST_EVENT_GUESSED |
					POST_EVENT_APPROX | POST_EVENT_BEFORE;
	struct post_output *output = context;
	const struct post_session *session = output->session;
	const struct post_process *process = post_event_process(output, event);
	struct state *state = output->state;

	if (event->kind != POST_EVENT_LEAVE || event->site == POST_NONE || event->flags & unknown ||
	    !process->returns || !post_clock_runs(process))
		return;
	if (event->callee >= state->count) {
		size_t count = session->function_capacity;
		state->verdicts = post_reallocate(state->verdicts, count, 1);
		state->items = post_reallocate(state->items, count, sizeof(*state->items));
		memset(state->verdicts + state->count, 0, count - state->count);
		memset(state->items + state->count, 0,
		       (count - state->count) * sizeof(*state->items));
		state->count = count;
	}
	if (!state->verdicts[event->callee]) {
		const char *const globs[] = {output->options.function, NULL};
		state->verdicts[event->callee] =
			post_function_matches(session, globs, event->callee) ? 2 : 1;
	}
	if (state->verdicts[event->callee] == 1)
		return;
	struct latency *latency = state->items[event->callee];
	if (!latency)
		latency = state->items[event->callee] = post_allocate(1, sizeof(*latency));
	uint64_t begin = post_nesting_frame(session, event)->time;
	uint64_t ns = post_clock_ns(process, event->time) - post_clock_ns(process, begin);
	if (!latency->count || ns < latency->least)
		latency->least = ns;
	if (ns > latency->most)
		latency->most = ns;
	latency->count++;
	latency->bins[bin_of(ns)]++;
	state->some = true;
}

static const char *time_text(uint64_t ns, char *text, size_t size)
{
	const struct post_measures unit = {.hertz = 1000000000u};

	return post_measures_text(&unit, ns, text, size);
}

/* No more than so many in a thousand calls took longer than that; the end of a bin. */
static uint64_t quantile(const struct latency *latency, unsigned thousandth)
{
	uint64_t rank = (latency->count * thousandth + 999) / 1000, sum = 0;

	for (unsigned i = 0; i < BINS - 1; i++) {
		sum += latency->bins[i];
		if (sum >= rank && sum)
			return bin_start(i + 1) - 1 < latency->most ? bin_start(i + 1) - 1
								    : latency->most;
	}
	return latency->most;
}

static void write_one(struct post_output *output, uint32_t number, const struct latency *latency)
{
	static const struct {
		const char *name;
		unsigned thousandth;
	} parts[] = {{"half", 500}, {"90 %", 900}, {"99 %", 990}, {"99.9 %", 999}};
	const struct post_session *session = output->session;
	const struct post_function *function = &session->functions[number];
	FILE *file = output->file;
	uint64_t most = 0;
	char text[64];

	fprintf(file, "%s [%s]: %" PRIu64 " call%s, least %s", function->name,
		session->modules[function->module].name, latency->count,
		latency->count == 1 ? "" : "s", time_text(latency->least, text, sizeof(text)));
	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++)
		fprintf(file, ", %s up to %s", parts[i].name,
			time_text(quantile(latency, parts[i].thousandth), text, sizeof(text)));
	fprintf(file, ", most %s\n", time_text(latency->most, text, sizeof(text)));
	for (unsigned i = 0; i < BINS; i++)
		most = latency->bins[i] > most ? latency->bins[i] : most;
	for (unsigned i = bin_of(latency->least), gap; i <= bin_of(latency->most); i++) {
		for (gap = 0; !latency->bins[i + gap]; gap++)
			;
		if (gap > LONGEST_GAP) {
			fprintf(file, "%12s |\n", "...");
			i += gap;
		}
		unsigned length = (unsigned)((double)latency->bins[i] * BAR / (double)most + 0.5);
		fprintf(file, "%12s |%-*.*s| %" PRIu64 "\n",
			time_text(bin_start(i), text, sizeof(text)), (int)BAR,
			(int)(length || !latency->bins[i] ? length : 1),
			"########################################", latency->bins[i]);
	}
	putc('\n', file);
}

static bool is_called(const struct post_output *output)
{
	const struct post_session *session = output->session;
	const char *const globs[] = {output->options.function, NULL};

	for (size_t i = 0; i < session->call_count; i++) {
		const struct post_call *call = &session->calls[i];
		if (call->count && !call->hidden &&
		    post_function_matches(session, globs, call->callee))
			return true;
	}
	return false;
}

/* Why no call of the function has a duration, and what helps. */
static void report_nothing(const struct post_output *output)
{
	const struct post_session *session = output->session;
	bool ordered = false, returns = false, clock = false;
	const char *why;

	for (size_t i = 0; i < session->process_count; i++) {
		const struct post_process *process = session->processes[i];
		ordered |= process->trace->header.mode != LITIFUT_MODE_TABLE;
		returns |= process->returns;
		clock |= process->returns && post_clock_runs(process);
	}
	if (!ordered)
		return; /* that there are only sums has been reported */
	if (returns && clock && !is_called(output)) {
		post_near_report(session, "of", output->options.function);
		return;
	}
	why = !returns ? "the program was not linked with LITIFUT_MODE=spans, which records returns"
	      : !clock ? "returns were recorded without times; LITIFUT_CLOCK=mono on the device "
			 "reads a clock with each event"
		       : "each was cut short, left through a tail call, or had not returned when "
			 "the trace or the window ended";
	post_problem_at(session->problems, NULL, LITIFUT_NO_ADDRESS,
			"no call of %s has a recorded return with a time: %s",
			output->options.function, why);
}

static void finish(struct post_output *output)
{
	struct state *state = output->state;

	post_losses_write(output->file, output->session, "# ", "\n");
	for (uint32_t i = 0; i < state->count; i++) {
		if (state->items[i])
			write_one(output, i, state->items[i]);
		free(state->items[i]);
	}
	if (!state->some)
		report_nothing(output);
	free(state->items);
	free(state->verdicts);
	free(state);
}

const struct post_format post_format_histogram = {
	.name = "histogram",
	.summary = "how long the calls of a function took (--function GLOB)",
	.asks_for_function = true,
	.uses = POST_USES_FUNCTION,
	.nested = true,
	.start = start,
	.event = event,
	.finish = finish,
};
