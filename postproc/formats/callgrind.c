/* callgrind: for KCachegrind, QCachegrind, callgrind_annotate and gprof2dot.
 *
 * Where returns were recorded with a clock, the first event is time. The other one is
 * "Calls": the own cost of a function is how often it was called; the inclusive cost of a call
 * is 1 plus all calls that were made before the callee returned, as far as the nesting is
 * known (nesting.h).
 *
 * Of LITIFUT_MODE=paths it is instructions, see callgrind_paths.h. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "postproc/formats/callgrind_paths.h"
#include "postproc/formats/format.h"
#include "postproc/measure/measure.h"
#include "postproc/model/lines.h"
#include "postproc/paths/profile.h"
#include "postproc/timeline/nesting.h"

struct state {
	uint64_t *inclusive; /* by number of the call */
	size_t count;
	uint64_t *lane_events; /* by number of the lane: calls so far */
	size_t lane_count;
	bool timed;
	bool *named;  /* by function: its name was written */
	char **files; /* by function: where its source is; NULL: not looked up yet */
	bool *object_named;
};

static void start(struct post_output *output)
{
	output->state = post_allocate(1, sizeof(struct state));
}

/* Makes room for `count` numbers in an array that is zero where it is new. */
static void extend(uint64_t **array, size_t *have, size_t count)
{
	*array = post_reallocate(*array, count, sizeof(**array));
	memset(*array + *have, 0, (count - *have) * sizeof(**array));
	*have = count;
}

static void event(void *context, const struct post_timeline_event *event)
{
	struct post_output *output = context;
	const struct post_session *session = output->session;
	struct state *state = output->state;

	if (event->kind > POST_EVENT_LEAVE || event->site == POST_NONE ||
	    event->flags & POST_EVENT_BEFORE) /* else its call is not in the window */
		return;
	if (event->site >= state->count)
		extend(&state->inclusive, &state->count, session->call_count);
	if (event->lane >= state->lane_count)
		extend(&state->lane_events, &state->lane_count, session->lane_capacity);
	uint64_t *number = &post_nesting_frame(session, event)->number;
	uint64_t *events = &state->lane_events[event->lane];
	if (event->kind == POST_EVENT_LEAVE)
		state->inclusive[event->site] += *events - *number;
	else
		*number = (*events)++;
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

static const char *file_of(struct post_output *output, uint32_t function)
{
	const struct post_function *about = &output->session->functions[function];
	char **file = &((struct state *)output->state)->files[function];
	char line[1024];

	if (*file)
		return *file;
	if (output->session->options.lines && about->symbol &&
	    post_lines_text(output->session, about->module, about->address, line, sizeof(line)))
		*strrchr(line, ':') = '\0';
	else
		strcpy(line, "???");
	return *file = post_copy_text(line);
}

/* The callee's file is the current one while it is named, see callgrind_paths.c. */
static void write_callee(struct post_output *output, uint32_t caller, uint32_t callee)
{
	const char *at_file = file_of(output, caller), *file = file_of(output, callee);

	write_object(output, "cob", output->session->functions[callee].module);
	if (strcmp(at_file, file))
		fprintf(output->file, "fl=%s\n", file);
	write_function(output, "cfn", callee);
	if (strcmp(at_file, file))
		fprintf(output->file, "fl=%s\n", at_file);
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
		write_callee(output, call->caller, call->callee);
		fprintf(output->file, "calls=%" PRIu64 " 0x%x 0\n0x%x %u", call->count,
			callee->address, call->site_address,
			post_lines_number(session, call->site_module, call->site_address));
		if (state->timed)
			fprintf(output->file, " %" PRIu64,
				post_measures_ns(output->measures,
						 output->measures->calls[order[i]]
							 .value[POST_METRIC_TOTAL]));
		/* From a table the calls below are not known. */
		fprintf(output->file, " %" PRIu64 "\n",
			state->inclusive[order[i]] ? state->inclusive[order[i]] : call->count);
	}
}

static void write_head(struct post_output *output)
{
	const struct post_session *session = output->session;
	const struct state *state = output->state;
	uint64_t calls = 0, self = 0;

	for (size_t i = 0; i < state->lane_count; i++)
		calls += state->lane_events[i];
	if (!state->timed) {
		fprintf(output->file, "events: Calls\nsummary: %" PRIu64 "\n", calls);
		return;
	}
	calls = 0;
	for (size_t i = 0; i < session->call_count; i++) {
		if (session->calls[i].hidden)
			continue;
		self += post_measures_ns(output->measures,
					 output->measures->calls[i].value[POST_METRIC_SELF]);
		calls += session->calls[i].count;
	}
	fprintf(output->file, "events: %s Calls\nsummary: %" PRIu64 " %" PRIu64 "\n",
		output->measures->hertz ? "Nanoseconds" : "Ticks", self, calls);
}

static void finish_calls(struct post_output *output)
{
	const struct post_session *session = output->session;
	struct state *state = output->state;
	uint64_t *received = post_allocate(session->function_count, sizeof(*received));
	uint64_t *self = post_allocate(session->function_count, sizeof(*self));
	uint32_t *order = post_allocate(session->call_count, sizeof(*order));
	size_t count = 0;

	if (state->count < session->call_count)
		extend(&state->inclusive, &state->count, session->call_count);
	state->timed =
		output->measures && post_measures_timing(output->measures) == POST_TIMING_MEASURED;
	state->named = post_allocate(session->function_count, sizeof(*state->named));
	state->files = post_allocate(session->function_count, sizeof(*state->files));
	state->object_named = post_allocate(session->module_count, sizeof(*state->object_named));
	for (uint32_t i = 0; i < session->call_count; i++) {
		if (session->calls[i].hidden || !session->calls[i].count)
			continue;
		received[session->calls[i].callee] += session->calls[i].count;
		if (state->timed)
			self[session->calls[i].callee] +=
				output->measures->calls[i].value[POST_METRIC_SELF];
		order[count++] = i;
	}
	qsort_r(order, count, sizeof(*order), by_caller, (void *)session);
	write_head(output);
	size_t next = 0;
	for (uint32_t f = 0; f < session->function_count; f++) {
		size_t first = next;
		while (next < count && session->calls[order[next]].caller == f)
			next++;
		if (!received[f] && first == next)
			continue;
		putc('\n', output->file);
		write_object(output, "ob", session->functions[f].module);
		fprintf(output->file, "fl=%s\n", file_of(output, f));
		write_function(output, "fn", f);
		fprintf(output->file, "0x%x %u %" PRIu64, session->functions[f].address,
			post_lines_number(session, session->functions[f].module,
					  session->functions[f].address),
			state->timed ? post_measures_ns(output->measures, self[f]) : received[f]);
		if (state->timed)
			fprintf(output->file, " %" PRIu64, received[f]);
		putc('\n', output->file);
		write_calls(output, order + first, next - first);
	}
	for (uint32_t f = 0; f < session->function_count; f++)
		free(state->files[f]);
	free(received);
	free(self);
	free(order);
}

static const char *program_of(const struct post_session *session, size_t process)
{
	return session->processes[process]->trace->header.program;
}

/* What viewers show as the command: the programs, each once. */
static void write_command(const struct post_output *output)
{
	const struct post_session *session = output->session;
	const char *between = "cmd: ";

	for (size_t i = 0; i < session->process_count; i++) {
		const char *program = program_of(session, i);
		size_t earlier = 0;

		while (earlier < i && strcmp(program_of(session, earlier), program))
			earlier++;
		if (earlier < i || !*program || strchr(program, '\n'))
			continue;
		fprintf(output->file, "%s%s", between, program);
		between = ", ";
	}
	if (*between == ',')
		putc('\n', output->file);
	if (session->process_count == 1)
		fprintf(output->file, "pid: %u\n", session->processes[0]->trace->header.pid);
}

static void finish(struct post_output *output)
{
	struct state *state = output->state;

	fputs("# callgrind format\nversion: 1\ncreator: litifut-post\n", output->file);
	write_command(output);
	fputs("positions: instr line\n", output->file);
	if (post_path_profile_possible(output->session))
		post_callgrind_paths_write(output);
	else
		finish_calls(output);
	free(state->named);
	free(state->files);
	free(state->object_named);
	free(state->inclusive);
	free(state->lane_events);
	free(state);
}

const struct post_format post_format_callgrind = {
	.name = "callgrind",
	.summary = "call graph with time and counts, or instructions, for KCachegrind",
	.measured = true,
	.tabled = true,
	.paths = true,
	.uses = POST_USES_LINES,
	.start = start,
	.nested = true,
	.event = event,
	.finish = finish,
};
