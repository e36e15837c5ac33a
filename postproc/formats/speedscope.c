/* speedscope: its own JSON, with a profile for each thread. Without a clock the number of the
 * call stands for time. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "postproc/formats/format.h"
#include "postproc/formats/text.h"
#include "postproc/model/clock.h"

/* The events of a thread are kept as text until the end: profiles follow one another in the
 * file, and threads take turns in the trace. */
struct lane {
	FILE *events; /* a temporary file; NULL: none yet */
	uint64_t start, end;
	bool some;
};

struct state {
	struct lane *lanes;
	size_t count;
	bool timed;
};

static void start(struct post_output *output)
{
	struct state *state = post_allocate(1, sizeof(*state));
	const struct post_session *session = output->session;

	state->timed = session->process_count > 0;
	for (size_t i = 0; i < session->process_count; i++)
		state->timed = state->timed && post_clock_runs(session->processes[i]);
	output->state = state;
}

static void event(void *context, const struct post_timeline_event *event)
{
	struct post_output *output = context;
	struct state *state = output->state;

	if (event->kind > POST_EVENT_LEAVE)
		return;
	POST_WIDEN(state->lanes, state->count, event->lane, output->session->lane_capacity);
	struct lane *lane = &state->lanes[event->lane];
	uint64_t at = state->timed ? post_clock_ns(post_event_process(output, event), event->time)
				   : post_event_sequence(output, event) + 1;
	if (event->flags & POST_EVENT_OPEN || (lane->some && at < lane->end))
		at = lane->end;
	if (!lane->some)
		lane->start = at;
	lane->end = at;
	if (!lane->events)
		lane->events = tmpfile();
	if (!lane->events) {
		if (!lane->some)
			post_problem_at(output->session->problems, NULL, LITIFUT_NO_ADDRESS,
					"no temporary file for a thread; it is left out");
		lane->some = true;
		return;
	}
	fprintf(lane->events, "%s{\"type\":\"%c\",\"frame\":%u,\"at\":%" PRIu64 "}",
		lane->some ? ",\n" : "", event->kind == POST_EVENT_ENTER ? 'O' : 'C', event->callee,
		at);
	lane->some = true;
}

static void copy_events(FILE *to, FILE *from)
{
	char piece[65536];
	size_t got;

	rewind(from);
	while ((got = fread(piece, 1, sizeof(piece), from)) > 0)
		fwrite(piece, 1, got, to);
	fclose(from);
}

static void finish(struct post_output *output)
{
	struct state *state = output->state;
	const struct post_session *session = output->session;
	FILE *file = output->file;
	bool some = false;

	fputs("{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\n"
	      "\"exporter\":\"litifut-post\",\"shared\":{\"frames\":[",
	      file);
	for (size_t i = 0; i < session->function_count; i++) {
		const struct post_function *function = &session->functions[i];
		fputs(i ? ",\n{\"name\":" : "\n{\"name\":", file);
		post_write_json_text(file, function->name);
		fputs(",\"file\":", file);
		post_write_json_text(file, session->modules[function->module].name);
		putc('}', file);
	}
	fputs("]},\n\"profiles\":[", file);
	for (size_t i = 0; i < state->count && i < session->lane_count; i++) {
		struct lane *lane = &state->lanes[i];
		const struct post_thread *thread = session->lanes[i];
		const struct litifut_trace_header *header =
			&session->processes[thread->process]->trace->header;
		char name[192], text[64];
		if (!lane->events)
			continue;
		snprintf(name, sizeof(name), "%s %u, %s", header->program, header->pid,
			 post_thread_text(thread, text, sizeof(text)));
		fprintf(file, "%s\n{\"type\":\"evented\",\"name\":", some ? "," : "");
		post_write_json_text(file, name);
		fprintf(file,
			",\"unit\":\"%s\",\"startValue\":%" PRIu64 ",\"endValue\":%" PRIu64
			",\"events\":[\n",
			state->timed ? "nanoseconds" : "none", lane->start, lane->end);
		copy_events(file, lane->events);
		fputs("]}", file);
		some = true;
	}
	fputs("]}\n", file);
	post_note_large_text(output, ftello(file), NULL);
	free(state->lanes);
	free(state);
}

const struct post_format post_format_speedscope = {
	.name = "speedscope",
	.summary = "for speedscope, a profile for each thread",
	.nested = true,
	.start = start,
	.event = event,
	.finish = finish,
};
