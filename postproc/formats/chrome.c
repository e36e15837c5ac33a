/* chrome: the Trace Event format, for Perfetto and chrome://tracing.
 *
 * A call ends, as far as a trace shows, when a call by a function below it
 * shows that it has returned; so durations are too long, never too short.
 * Without a clock the number of the event stands for microseconds. */
#include <stdlib.h>
#include <string.h>

#include "postproc/model/clock.h"
#include "postproc/formats/format.h"
#include "postproc/formats/text.h"

struct lane {
	bool named;
	double time; /* microseconds, of its latest event */
};

struct state {
	struct lane *lanes; /* by number */
	size_t count;
	bool some;
	double origin;
	bool has_origin;
	uint64_t events;
};

#define SMALLER "-f perfetto is smaller"

static void begin_entry(struct post_output *output, const struct post_timeline_event *event,
			char phase)
{
	struct state *state = output->state;

	fprintf(output->file, "%s{\"ph\":\"%c\",\"pid\":%u,\"tid\":%u,\"ts\":%.3f",
		state->some ? ",\n" : "", phase,
		post_event_process(output, event)->trace->header.pid,
		post_event_thread(output, event)->id, state->lanes[event->lane].time);
	state->some = true;
}

static void begin_function(struct post_output *output, const struct post_timeline_event *event)
{
	const struct post_session *session = output->session;
	const struct post_function *about = &session->functions[event->callee];

	begin_entry(output, event, 'B');
	fputs(",\"name\":", output->file);
	post_write_json_text(output->file, about->name);
	fputs(",\"cat\":", output->file);
	post_write_json_text(output->file, session->modules[about->module].name);
	if (event->site != POST_NONE && !(event->flags & POST_EVENT_BEFORE)) {
		fprintf(output->file, ",\"args\":{\"site\":\"0x%x\"",
			session->calls[event->site].site_address);
		post_write_json_arguments(output->file, output->session, event, false);
		putc('}', output->file);
	}
	putc('}', output->file);
}

static void start(struct post_output *output)
{
	output->state = post_allocate(1, sizeof(struct state));
	/* Without displayTimeUnit: versions of Perfetto up to 20 take "ns" for the unit of ts,
	 * which is a microsecond. */
	fputs("{\"traceEvents\":[\n", output->file);
}

static void name_process(struct post_output *output, const struct post_timeline_event *event)
{
	begin_entry(output, event, 'M');
	fputs(",\"name\":\"process_name\",\"args\":{\"name\":", output->file);
	post_write_json_text(output->file,
			     post_event_process(output, event)->trace->header.program);
	fputs("}}", output->file);
}

static void event(void *context, const struct post_timeline_event *event)
{
	struct post_output *output = context;
	struct state *state = output->state;
	const struct post_process *process = post_event_process(output, event);
	double time = (double)post_event_sequence(output, event);

	if (event->kind > POST_EVENT_LEAVE)
		return;
	if (post_clock_runs(process)) {
		time = (double)post_clock_ns(process, post_event_clock(event)) / 1000.0;
		if (!state->has_origin)
			state->origin = time;
		state->has_origin = true;
		time -= state->origin;
	}
	if (event->lane >= state->count) {
		size_t count = output->session->lane_capacity;
		state->lanes = post_reallocate(state->lanes, count, sizeof(*state->lanes));
		memset(state->lanes + state->count, 0,
		       (count - state->count) * sizeof(*state->lanes));
		state->count = count;
	}
	if (!(++state->events & 0xffff))
		post_note_large_text(output, ftello(output->file), SMALLER);
	struct lane *lane = &state->lanes[event->lane];
	bool is_open = event->flags & POST_EVENT_OPEN; /* it ends with the last event shown */
	if (!lane->named || (time > lane->time && !is_open))
		lane->time = time;
	if (!lane->named)
		name_process(output, event);
	lane->named = true;
	if (event->kind == POST_EVENT_ENTER) {
		begin_function(output, event);
	} else {
		begin_entry(output, event, 'E');
		if (event->arguments) {
			fputs(",\"args\":{", output->file);
			post_write_json_arguments(output->file, output->session, event, true);
			putc('}', output->file);
		}
		putc('}', output->file);
	}
}

static void finish(struct post_output *output)
{
	struct state *state = output->state;

	fputs("\n]}\n", output->file);
	post_note_large_text(output, ftello(output->file), SMALLER);
	free(state->lanes);
	free(state);
}

const struct post_format post_format_chrome = {
	.name = "chrome",
	.summary = "timeline as JSON, for Perfetto and chrome://tracing",
	.start = start,
	.nested = true,
	.event = event,
	.finish = finish,
};
