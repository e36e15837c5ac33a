/* callgrind: for KCachegrind, QCachegrind, callgrind_annotate and gprof2dot.
 *
 * The one event is "Calls". The own cost of a function is how often it was
 * called; the inclusive cost of a call is 1 plus all calls that were made
 * before the callee returned, as far as nesting can be rebuilt (stacks.h). */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "postproc/formats/format.h"
#include "postproc/model/lines.h"
#include "postproc/timeline/stacks.h"

/* Of one thread. */
struct lane {
	struct post_stack stack; /* first, see post_thread_stack() */
	uint64_t events;         /* so far */
};

struct state {
	struct post_stacks stacks;
	uint64_t *inclusive; /* by number of the call */
	size_t count;
	uint64_t events;
	bool *named; /* by function: its name was written */
	bool *object_named;
};

static void leave(void *context, const struct post_stack *stack, const struct post_frame *frame,
		  uint32_t depth)
{
	struct state *state = context;
	const struct lane *lane = (const struct lane *)stack;

	(void)depth;
	if (frame->call != POST_NONE)
		state->inclusive[frame->call] += lane->events - frame->number;
}

static void start(struct post_output *output)
{
	struct state *state = post_allocate(1, sizeof(*state));

	state->stacks.session = output->session;
	state->stacks.leave = leave;
	state->stacks.context = state;
	output->state = state;
}

static void event(struct post_output *output, const struct post_event *event)
{
	struct state *state = output->state;
	struct lane *lane = post_thread_stack(event->thread, sizeof(*lane));

	if (event->call >= state->count) {
		size_t count = output->session->call_count;
		state->inclusive =
			post_reallocate(state->inclusive, count, sizeof(*state->inclusive));
		memset(state->inclusive + state->count, 0,
		       (count - state->count) * sizeof(*state->inclusive));
		state->count = count;
	}
	struct post_frame *frame = post_stack_call(&state->stacks, &lane->stack, event->call);
	frame->number = lane->events++;
	state->events++;
}

/* Names are written once and then referred to by number. */
static void write_object(struct post_output *output, const char *key, uint32_t module)
{
	struct state *state = output->state;

	fprintf(output->file, "%s=(%u)", key, module + 1);
	if (!state->object_named[module])
		fprintf(output->file, " %s", output->session->modules[module].name);
	state->object_named[module] = true;
	putc('\n', output->file);
}

static void write_function(struct post_output *output, const char *key, uint32_t function)
{
	struct state *state = output->state;

	fprintf(output->file, "%s=(%u)", key, function + 1);
	if (!state->named[function])
		fprintf(output->file, " %s", output->session->functions[function].name);
	state->named[function] = true;
	putc('\n', output->file);
}

static void write_file(struct post_output *output, uint32_t function)
{
	const struct post_function *about = &output->session->functions[function];
	char line[1024];

	if (output->session->options.lines && about->symbol &&
	    post_lines_text(output->session, about->module, about->address, line, sizeof(line)))
		fprintf(output->file, "fl=%.*s\n", (int)(strrchr(line, ':') - line), line);
	else
		fputs("fl=???\n", output->file);
}

static int by_caller(const void *left, const void *right, void *context)
{
	const struct post_session *session = context;
	const struct post_call *a = &session->calls[*(const uint32_t *)left];
	const struct post_call *b = &session->calls[*(const uint32_t *)right];

	if (a->caller != b->caller)
		return a->caller < b->caller ? -1 : 1;
	return a->site_address < b->site_address ? -1 : a->site_address > b->site_address;
}

static void write_calls(struct post_output *output, const uint32_t *order, size_t count)
{
	const struct post_session *session = output->session;
	struct state *state = output->state;

	for (size_t i = 0; i < count; i++) {
		const struct post_call *call = &session->calls[order[i]];
		const struct post_function *callee = &session->functions[call->callee];
		write_object(output, "cob", callee->module);
		write_function(output, "cfn", call->callee);
		fprintf(output->file, "calls=%" PRIu64 " 0x%x 0\n0x%x %u %" PRIu64 "\n",
			call->count, callee->address, call->site_address,
			post_lines_number(session, call->site_module, call->site_address),
			state->inclusive[order[i]]);
	}
}

static void finish(struct post_output *output)
{
	const struct post_session *session = output->session;
	struct state *state = output->state;
	uint64_t *received = post_allocate(session->function_count, sizeof(*received));
	uint32_t *order = post_allocate(session->call_count, sizeof(*order));
	size_t count = 0;

	post_stacks_unwind(&state->stacks);
	state->named = post_allocate(session->function_count, sizeof(*state->named));
	state->object_named = post_allocate(session->module_count, sizeof(*state->object_named));
	for (uint32_t i = 0; i < session->call_count; i++) {
		if (session->calls[i].hidden || !session->calls[i].count || i >= state->count)
			continue;
		received[session->calls[i].callee] += session->calls[i].count;
		order[count++] = i;
	}
	qsort_r(order, count, sizeof(*order), by_caller, (void *)session);
	fprintf(output->file,
		"# callgrind format\nversion: 1\ncreator: litifut-post\npositions: instr line\n"
		"events: Calls\nsummary: %" PRIu64 "\n",
		state->events);
	size_t next = 0;
	for (uint32_t f = 0; f < session->function_count; f++) {
		size_t first = next;
		while (next < count && session->calls[order[next]].caller == f)
			next++;
		if (!received[f] && first == next)
			continue;
		putc('\n', output->file);
		write_object(output, "ob", session->functions[f].module);
		write_file(output, f);
		write_function(output, "fn", f);
		fprintf(output->file, "0x%x %u %" PRIu64 "\n", session->functions[f].address,
			post_lines_number(session, session->functions[f].module,
					  session->functions[f].address),
			received[f]);
		write_calls(output, order + first, next - first);
	}
	free(received);
	free(order);
	free(state->named);
	free(state->object_named);
	free(state->inclusive);
	post_stacks_release(&state->stacks);
	free(state);
}

const struct post_format post_format_callgrind = {
	.name = "callgrind",
	.summary = "call graph with counts, for KCachegrind",
	.uses = POST_USES_LINES,
	.start = start,
	.event = event,
	.finish = finish,
};
