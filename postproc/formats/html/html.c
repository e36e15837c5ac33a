/* html: one file that a browser opens without a network: functions, callers and callees, flame
 * graph, timeline. The parts of script/ draw it from one JSON object, which is written here;
 * docs/output-formats.md lists its members.
 *
 * The size is bounded for any length of run: at most FLAME_NODES nodes of the call tree, the
 * longest spans (spans.h), a power curve of POST_HTML_POINTS buckets, and the distinct functions
 * and call sites. What is left out is counted in the report. Numbers that follow one another
 * closely are written as differences where that makes the file smaller (`begin`). */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/version.h"
#include "postproc/formats/about.h"
#include "postproc/formats/format.h"
#include "postproc/formats/html/assets.h"
#include "postproc/formats/html/code.h"
#include "postproc/formats/html/energy.h"
#include "postproc/formats/html/missing.h"
#include "postproc/formats/html/tables.h"
#include "postproc/formats/html/spans.h"
#include "postproc/formats/text.h"
#include "postproc/measure/call_tree.h"
#include "postproc/measure/edges.h"
#include "postproc/measure/measure.h"
#include "postproc/model/clock.h"
#include "postproc/timeline/timeline.h"

#define FLAME_NODES 200000u

struct state {
	struct post_call_tree tree;
	struct post_html_spans spans;
	bool timed;   /* every process has a clock */
	bool guessed; /* some leave was not recorded */
	uint64_t start, end;
	bool started;
	/* The open calls of each lane. */
	struct lane {
		uint64_t *begin;
		uint32_t depth, capacity;
		uint64_t calls; /* so far: without a clock the position of an event */
	} * lanes;
	uint32_t lane_count, lane_capacity;
};

static void start(struct post_output *output)
{
	struct state *state = post_allocate(1, sizeof(*state));

	state->tree.merge_recursion = output->options.merge_recursion;
	state->timed = output->session->process_count > 0;
	for (size_t i = 0; i < output->session->process_count; i++)
		state->timed = state->timed && post_clock_runs(output->session->processes[i]);
	output->state = state;
}

static struct lane *lane_of(struct state *state, uint32_t number)
{
	while (state->lane_count <= number) {
		POST_GROW(state->lanes, state->lane_count, state->lane_capacity);
		memset(&state->lanes[state->lane_count++], 0, sizeof(*state->lanes));
	}
	return &state->lanes[number];
}

static uint64_t position(struct post_output *output, const struct post_timeline_event *event,
			 const struct lane *lane)
{
	const struct state *state = output->state;

	return state->timed
		       ? post_clock_ns(post_event_process(output, event), post_event_clock(event))
		       : lane->calls;
}

static void enter(struct state *state, struct lane *lane, const struct post_timeline_event *event,
		  uint64_t at)
{
	POST_GROW(lane->begin, lane->depth, lane->capacity);
	lane->begin[lane->depth++] = at;
	if (post_event_is_call(event)) {
		lane->calls++;
		post_html_spans_begin(&state->spans, event->lane, at);
	}
}

static void leave(struct state *state, struct lane *lane, const struct post_timeline_event *event,
		  uint64_t at)
{
	struct post_html_span span = {.lane = event->lane};

	if (!lane->depth)
		return;
	span.begin = lane->begin[--lane->depth];
	span.length = at > span.begin ? at - span.begin : 0;
	span.depth = lane->depth;
	span.function = event->callee;
	post_html_spans_add(&state->spans, &span);
	if (event->flags & POST_EVENT_GUESSED)
		state->guessed = true;
}

static void event(void *context, const struct post_timeline_event *event)
{
	struct post_output *output = context;
	struct state *state = output->state;
	struct lane *lane = lane_of(state, event->lane);
	uint64_t at = position(output, event, lane);

	if (!state->started || at < state->start)
		state->start = at;
	if (!state->started || at > state->end)
		state->end = at;
	state->started = true;
	post_call_tree_take(&state->tree, output->session, event);
	if (event->kind == POST_EVENT_ENTER)
		enter(state, lane, event, at);
	else if (event->kind == POST_EVENT_LEAVE)
		leave(state, lane, event, at);
}

static int more_calls_first(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? 1 : x > y ? -1 : 0;
}

/* The calls at and below a node decide whether it is shown, so that the parent of a node
 * that is shown is shown, too. Returns the least that a node must have. */
static uint64_t flame_threshold(const struct post_call_tree *tree, uint64_t *inclusive)
{
	uint64_t *sorted;
	uint64_t least = 1;

	for (uint32_t i = 0; i < tree->count; i++)
		inclusive[i] = tree->nodes[i].calls;
	for (uint32_t i = tree->count; i-- > 0;) {
		if (tree->nodes[i].parent != POST_NONE)
			inclusive[tree->nodes[i].parent] += inclusive[i];
	}
	if (tree->count <= FLAME_NODES)
		return least;
	sorted = post_allocate(tree->count, sizeof(*sorted));
	memcpy(sorted, inclusive, tree->count * sizeof(*sorted));
	qsort(sorted, tree->count, sizeof(*sorted), more_calls_first);
	least = sorted[FLAME_NODES] + 1;
	free(sorted);
	return least;
}

static void write_flame(struct post_html_page *page)
{
	struct post_output *output = page->output;
	const uint32_t *numbers = page->numbers;
	const struct state *state = output->state;
	const struct post_call_tree *tree = &state->tree;
	uint64_t *inclusive = post_allocate(tree->count + 1, sizeof(*inclusive));
	int32_t *place = post_allocate(tree->count + 1, sizeof(*place));
	uint64_t least = flame_threshold(tree, inclusive);
	FILE *file = output->file;
	int32_t shown = 0;

	fputs("\"flame\":{\"parent\":[", file);
	for (uint32_t i = 0; i < tree->count; i++) {
		uint32_t parent = tree->nodes[i].parent;

		place[i] = inclusive[i] >= least ? shown++ : -1;
		if (place[i] >= 0)
			fprintf(file, "%s%d", place[i] ? "," : "",
				parent == POST_NONE ? -1 : place[parent]);
	}
	fputs("],\n\"function\":[", file);
	for (uint32_t i = 0; i < tree->count; i++) {
		if (place[i] >= 0)
			fprintf(file, "%s%d", place[i] ? "," : "",
				(int)numbers[tree->nodes[i].function]);
	}
	fputs("],\n\"calls\":[", file);
	for (uint32_t i = 0; i < tree->count; i++) {
		if (place[i] >= 0)
			fprintf(file, "%s%" PRIu64, place[i] ? "," : "", tree->nodes[i].calls);
	}
	if (page->timing == POST_TIMING_MEASURED && tree->timed) {
		fputs("],\n\"time\":[", file);
		for (uint32_t i = 0; i < tree->count; i++) {
			if (place[i] >= 0)
				fprintf(file, "%s%" PRIu64, place[i] ? "," : "",
					post_measures_ns(output->measures, tree->nodes[i].self));
		}
	}
	if (output->energy) {
		double left, *joules = post_html_path_energies(output->energy, tree, &left);
		fputs("],\n\"energy\":[", file);
		for (uint32_t i = 0; i < tree->count; i++) {
			if (place[i] >= 0)
				fprintf(file, "%s%.6g", place[i] ? "," : "",
					joules[i] > 0 ? joules[i] * 1e9 : 0);
			else
				left += joules[i];
		}
		fprintf(file, "],\"energy_left_out\":%.6g", left * 1e9);
		free(joules);
	} else {
		putc(']', file);
	}
	fprintf(file, ",\"left_out\":%u},\n", tree->count - (uint32_t)shown);
	free(inclusive);
	free(place);
}

static void write_density(FILE *file, const struct post_html_density *density)
{
	unsigned last = POST_HTML_BUCKETS;

	while (density->counts && last && !density->counts[last - 1])
		last--;
	fprintf(file, "\"from\":%" PRIu64 ",\"width\":%" PRIu64 ",\"density\":[", density->start,
		density->counts ? density->width : 1);
	for (unsigned i = 0; density->counts && i < last; i++)
		fprintf(file, "%s%u", i ? "," : "", density->counts[i]);
	putc(']', file);
}

/* One row for each depth. `at` is the first span that is not written yet. */
static size_t write_rows(struct post_output *output, uint32_t lane, size_t at,
			 const uint32_t *numbers)
{
	const struct state *state = output->state;
	const struct post_html_span *items = state->spans.items;
	size_t count = state->spans.count;
	FILE *file = output->file;
	const char *row = "";

	fputs(",\"rows\":[", file);
	while (at < count && items[at].lane == lane) {
		size_t end = at;
		uint64_t before = 0;

		while (end < count && items[end].lane == lane &&
		       items[end].depth == items[at].depth)
			end++;
		fprintf(file, "%s\n{\"depth\":%u,\"begin\":[", row, items[at].depth);
		row = ",";
		for (size_t i = at; i < end; i++) {
			fprintf(file, "%s%" PRIu64, i > at ? "," : "", items[i].begin - before);
			before = items[i].begin;
		}
		fputs("],\"length\":[", file);
		for (size_t i = at; i < end; i++)
			fprintf(file, "%s%" PRIu64, i > at ? "," : "", items[i].length);
		fputs("],\"function\":[", file);
		for (size_t i = at; i < end; i++)
			fprintf(file, "%s%d", i > at ? "," : "", (int)numbers[items[i].function]);
		fputs("]}", file);
		at = end;
	}
	putc(']', file);
	return at;
}

static void write_timeline(struct post_html_page *page)
{
	struct post_output *output = page->output;
	struct state *state = output->state;
	const struct post_session *session = output->session;
	FILE *file = output->file;
	uint32_t lanes = state->lane_count < POST_HTML_LANES ? state->lane_count : POST_HTML_LANES;
	size_t at = 0;

	post_html_spans_finish(&state->spans);
	fprintf(file,
		"\"timeline\":{\"start\":%" PRIu64 ",\"end\":%" PRIu64 ",\"shortest\":%" PRIu64
		",\"guessed\":%s,\"lanes_left_out\":%u,\"lanes\":[",
		state->start, state->end, state->spans.shortest, state->guessed ? "true" : "false",
		state->lane_count - lanes);
	for (uint32_t i = 0; i < lanes; i++) {
		const struct post_thread *thread = session->lanes[i];
		const struct litifut_trace_header *header =
			&session->processes[thread->process]->trace->header;
		char name[192], text[64];

		snprintf(name, sizeof(name), "%s %u, %s", header->program, header->pid,
			 post_thread_text(thread, text, sizeof(text)));
		fprintf(file, "%s\n{\"name\":", i ? "," : "");
		post_write_json_text(file, name);
		fprintf(file, ",\"calls\":%" PRIu64 ",", state->lanes[i].calls);
		write_density(file, &state->spans.lanes[i]);
		at = write_rows(output, i, at, page->numbers);
		putc('}', file);
	}
	fputs("]},\n", file);
}

static void release(struct state *state)
{
	for (uint32_t i = 0; i < state->lane_count; i++)
		free(state->lanes[i].begin);
	free(state->lanes);
	post_html_spans_release(&state->spans);
	post_call_tree_release(&state->tree);
	free(state);
}

static void finish(struct post_output *output)
{
	struct state *state = output->state;
	const struct post_session *session = output->session;
	FILE *file = output->file;
	struct post_edges edges;
	struct post_tallies tallies;
	uint32_t *numbers = post_allocate(session->function_count + 1, sizeof(*numbers));
	struct post_html_sources sources = {.session = session, .folders = output->options.sources};
	struct post_html_page page = {
		.output = output,
		.tallies = &tallies,
		.numbers = numbers,
		.sources = &sources,
		.timing = output->measures ? post_measures_timing(output->measures)
					   : POST_TIMING_NONE,
	};
	static const char *const times[] = {"none", "bounds", "measured"};

	post_edges_collect(session, &edges);
	post_tallies_collect(session, &edges, &tallies);
	for (size_t i = 0; i < session->function_count; i++)
		numbers[i] = POST_NONE;
	for (size_t i = 0; i < tallies.count; i++)
		numbers[tallies.items[i].function] = (uint32_t)i;
	fputs(post_html_page, file);
	fputs(post_html_style, file);
	fputs(post_html_body, file);
	fprintf(file,
		"{\"format\":\"litifut-html\",\"unit\":\"%s\",\"calls\":%" PRIu64
		",\"times\":\"%s\",\"ticks\":%s,\"unresolved\":%" PRIu64 ",\n",
		state->timed ? "ns" : "calls", edges.total, times[page.timing],
		output->measures && !output->measures->hertz ? "true" : "false",
		output->totals->unresolved);
	post_about_processes(file, session);
	post_about_modules(file, session);
	post_html_functions_write(&page);
	post_html_sites_write(&page);
	post_html_code_write(&page);
	write_flame(&page);
	write_timeline(&page);
	if (output->energy)
		post_html_power_write(output->energy, file);
	post_html_sources_write(&sources, file);
	post_html_missing_write(output, edges.total);
	fputs("\"version\":\"" LITIFUT_VERSION "\"}\n</script>\n<script>\n", file);
	fputs(post_html_script, file);
	fputs("</script>\n</body>\n</html>\n", file);
	free(numbers);
	post_html_sources_release(&sources);
	post_tallies_release(&tallies);
	post_edges_release(&edges);
	release(state);
}

const struct post_format post_format_html = {
	.name = "html",
	.summary = "one page for a browser: functions, flame graph, timeline",
	.uses = POST_USES_LINES | POST_USES_SOURCE | POST_USES_MERGE_RECURSION,
	.start = start,
	.nested = true,
	.measured = true,
	.tabled = true,
	.paths = true,
	.event = event,
	.finish = finish,
};
