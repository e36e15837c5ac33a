/* chrome: the Trace Event format, for Perfetto and chrome://tracing.
 *
 * A call ends, as far as a trace can tell, when a call by a function below it
 * shows that it has returned; so durations are too long, never too short.
 * Without a clock the number of the event stands for microseconds. */
#include <inttypes.h>
#include <stdlib.h>

#include "postproc/model/clock.h"
#include "postproc/formats/format.h"
#include "postproc/timeline/stacks.h"
#include "postproc/formats/text.h"

/* Per thread: the stack, and the time of its latest event. */
struct lane {
	struct post_stack stack; /* first, see post_thread_stack() */
	bool begun;
	uint32_t pid, tid;
	double time; /* microseconds */
};

struct state {
	struct post_stacks stacks;
	FILE *file;
	bool some;
	double origin;
	bool has_origin;
};

static void begin_entry(struct state *state, char phase, const struct lane *lane)
{
	fprintf(state->file, "%s{\"ph\":\"%c\",\"pid\":%u,\"tid\":%u,\"ts\":%.3f",
		state->some ? ",\n" : "", phase, lane->pid, lane->tid, lane->time);
	state->some = true;
}

static void leave(void *context, const struct post_stack *stack, const struct post_frame *frame,
		  uint32_t depth)
{
	struct state *state = context;
	const struct lane *lane = (const struct lane *)stack;

	(void)frame;
	(void)depth;
	if (!lane->begun)
		return;
	begin_entry(state, 'E', lane);
	putc('}', state->file);
}

static void begin_function(struct state *state, const struct lane *lane, uint32_t function,
			   uint32_t call)
{
	const struct post_session *session = state->stacks.session;
	const struct post_function *about = &session->functions[function];

	begin_entry(state, 'B', lane);
	fputs(",\"name\":", state->file);
	post_write_json_text(state->file, about->name);
	fputs(",\"cat\":", state->file);
	post_write_json_text(state->file, session->modules[about->module].name);
	if (call != POST_NONE)
		fprintf(state->file, ",\"args\":{\"site\":\"0x%x\"}",
			session->calls[call].site_address);
	putc('}', state->file);
}

static void enter(void *context, struct post_stack *stack, struct post_frame *frame, uint32_t depth)
{
	const struct lane *lane = (const struct lane *)stack;

	(void)depth;
	if (lane->begun)
		begin_function(context, lane, frame->function, POST_NONE);
}

static void start(struct post_output *output)
{
	struct state *state = post_allocate(1, sizeof(*state));

	state->file = output->file;
	state->stacks.session = output->session;
	state->stacks.leave = leave;
	state->stacks.enter = enter;
	state->stacks.context = state;
	output->state = state;
	fputs("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n", output->file);
}

static void name_thread(struct state *state, const struct post_event *event,
			const struct lane *lane)
{
	const struct litifut_trace_header *header = &event->process->trace->header;

	begin_entry(state, 'M', lane);
	fputs(",\"name\":\"process_name\",\"args\":{\"name\":", state->file);
	post_write_json_text(state->file, header->program);
	fputs("}}", state->file);
}

static void before(struct post_output *output, const struct post_event *event)
{
	struct state *state = output->state;
	struct lane *lane = post_thread_stack(event->thread, sizeof(*lane));

	post_stack_call(&state->stacks, &lane->stack, event->call);
}

static void event(struct post_output *output, const struct post_event *event)
{
	struct state *state = output->state;
	struct lane *lane = post_thread_stack(event->thread, sizeof(*lane));
	double time = (double)event->sequence;

	if (post_clock_runs(event->process)) {
		time = (double)post_clock_ns(event->process, event->time) / 1000.0;
		if (!state->has_origin)
			state->origin = time;
		state->has_origin = true;
		time -= state->origin;
	}
	bool are_inside = !lane->begun && lane->stack.depth; /* entered before --from */

	if (!lane->begun) {
		lane->begun = !are_inside;
		lane->pid = event->process->trace->header.pid;
		lane->tid = event->thread->id;
		lane->time = time;
		name_thread(state, event, lane);
	}
	if (time > lane->time)
		lane->time = time;
	post_stack_call(&state->stacks, &lane->stack, event->call);
	for (uint32_t depth = 0; are_inside && depth + 1 < lane->stack.depth; depth++)
		begin_function(state, lane, lane->stack.frames[depth].function, POST_NONE);
	lane->begun = true;
	begin_function(state, lane, output->session->calls[event->call].callee, event->call);
}

static void finish(struct post_output *output)
{
	struct state *state = output->state;

	post_stacks_unwind(&state->stacks);
	fputs("\n]}\n", output->file);
	post_stacks_release(&state->stacks);
	free(state);
}

const struct post_format post_format_chrome = {
	.name = "chrome",
	.summary = "timeline as JSON, for Perfetto and chrome://tracing",
	.start = start,
	.event = event,
	.before = before,
	.finish = finish,
};
