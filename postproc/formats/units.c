/* units: a run as "Diagnostic tracing for wireless sensor networks" (2013) prints it: which
 * functions were entered, the numbers of their paths, and when they were left. What has
 * interrupted a function stands between its start and its end. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "postproc/formats/format.h"
#include "postproc/formats/nodes.h"
#include "postproc/paths/replay.h"
#include "postproc/paths/traced.h"
#include "postproc/paths/units.h"

#define ID_BITS 64
#define DEEPEST_INDENT 40

/* Of tokens of LITIFUT_MODE=units, besides enum path_token_kind. */
enum { TOKEN_CUT = PATH_LEAVES + 1, TOKEN_GAP };

struct writer {
	FILE *file;
	const char *const *names; /* by number of the function */
	const struct path_token *tokens;
	size_t count;
	bool numbers;     /* tokens have numbers of paths */
	const char *node; /* with --order, else NULL */
	int depth;
};

static bool is_leave(const struct path_token *token)
{
	return token->kind == PATH_LEAVES || token->kind == TOKEN_CUT;
}

static void write_token(struct writer *writer, const struct path_token *token)
{
	static const char *const words[] = {[PATH_ENTERS] = "start",
					    [PATH_ENDS] = "path",
					    [PATH_LEAVES] = "end",
					    [TOKEN_CUT] = "left without its end"};
	int indent;

	if (writer->node)
		fprintf(writer->file, "%s\t", writer->node);
	if (token->kind == TOKEN_GAP) {
		fputs("[what comes before is not known]\n", writer->file);
		writer->depth = 0;
		return;
	}
	writer->depth -= is_leave(token) && writer->depth;
	indent = writer->depth - (token->kind == PATH_ENDS && writer->depth);
	fprintf(writer->file, "%*s<%s> %s", 2 * (indent > DEEPEST_INDENT ? DEEPEST_INDENT : indent),
		"", writer->names[token->function], words[token->kind]);
	if (writer->numbers && token->kind != PATH_ENTERS)
		fprintf(writer->file, " %" PRIu64, token->id);
	putc('\n', writer->file);
	writer->depth += token->kind == PATH_ENTERS;
}

static bool is_same(const struct path_token *a, const struct path_token *b, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (a[i].id != b[i].id || a[i].function != b[i].function || a[i].kind != b[i].kind)
			return false;
	return true;
}

#define LONGEST_REPEATED 26

/* A number of tokens at `at` that come again at once behind themselves, and leave the nesting as it
 * is: the one that saves most. *times is how often they are there; 0: none are. */
static size_t find_repeated(const struct writer *writer, size_t at, size_t *times)
{
	size_t best = 0, best_saved = 0;
	int depth = 0;

	for (size_t length = 1; length <= LONGEST_REPEATED && at + 2 * length <= writer->count;
	     length++) {
		size_t found = 1, saved;

		depth += writer->tokens[at + length - 1].kind == PATH_ENTERS ? 1
			 : is_leave(&writer->tokens[at + length - 1])        ? -1
									     : 0;
		if (depth)
			continue;
		while (at + (found + 1) * length <= writer->count &&
		       is_same(writer->tokens + at, writer->tokens + at + found * length, length))
			found++;
		saved = (found - 1) * length;
		if (found > 1 && saved > best_saved) {
			best_saved = saved;
			best = length;
			*times = found;
		}
	}
	return best_saved > 1 ? best : 0;
}

/* Those from number `at` on. */
static void write_tokens(struct writer *writer, size_t at)
{
	while (at < writer->count) {
		size_t times = 1, length = find_repeated(writer, at, &times);

		for (size_t i = 0; i < (length ? length : 1); i++)
			write_token(writer, &writer->tokens[at + i]);
		if (length && writer->node)
			fprintf(writer->file, "%s\t", writer->node);
		if (length == 1)
			fprintf(writer->file, "[%zu more of the line above]\n", times - 1);
		else if (length)
			fprintf(writer->file, "[%zu more of the %zu lines above]\n", times - 1,
				length);
		at += length ? length * times : 1;
	}
}

/* A thread after the other. */
static void write_lanes(struct post_output *output, const struct path_program *program,
			struct path_flow *flow, const struct path_numbers *numbers,
			const struct path_executed *executed)
{
	for (size_t i = 0; i < executed->lane_count; i++) {
		const struct path_executed lane = {.lanes = &executed->lanes[i], .lane_count = 1};
		struct path_replay replay;
		struct writer writer = {.file = output->file,
					.names = (const char *const *)program->names,
					.numbers = true};

		path_replay_run(program, flow, numbers, &lane, &replay);
		if (replay.token_count)
			fprintf(output->file, "thread %u\n", executed->lanes[i].number);
		writer.tokens = replay.tokens;
		writer.count = replay.token_count;
		write_tokens(&writer, 0);
		path_replay_release(&replay);
	}
}

/* Functions that a pointer has entered are found by a replay, and do not belong to their callers.
 */
static void write_units(struct post_output *output, struct path_program *program)
{
	const struct path_options how = {.interprocedural = true, .id_bits = ID_BITS};
	struct path_executed executed;
	struct path_numbers numbers = {0};
	struct path_replay replay = {0};

	path_traced_read(output->session, program, &executed);
	do {
		path_numbers_release(&numbers);
		path_replay_release(&replay);
		if (!path_numbers_make(&program->graph.flow, &how, &numbers))
			post_out_of_memory();
		path_replay_run(program, &program->graph.flow, &numbers, &executed, &replay);
	} while (replay.again);
	path_replay_release(&replay);
	write_lanes(output, program, &program->graph.flow, &numbers, &executed);
	path_numbers_release(&numbers);
	path_executed_release(&executed);
}

/* One thread of LITIFUT_MODE=units. */
struct unit_lane {
	uint32_t process, thread;
	struct path_token *tokens;
	size_t count, capacity;
	struct writer writer;
};

/* A piece of the timeline: a token of a lane. */
struct unit_item {
	size_t lane, token;
};

/* The items of a lane of the order, as many as that has. */
struct unit_items {
	struct unit_item *items;
	size_t capacity;
};

/* What that mode has recorded. */
struct recorded {
	const char *const *only; /* globs; NULL: all units are shown */
	uint32_t process;
	struct unit_lane *lanes;
	size_t lane_count, lane_capacity;
	const char **names;
	size_t name_count, name_capacity;
	struct post_session *session;
	struct post_nodes *nodes; /* with --order, else NULL */
	struct unit_items *ordered;
	size_t ordered_count;
};

static uint32_t name_number(struct recorded *recorded, const char *name)
{
	for (size_t i = recorded->name_count; i-- > 0;)
		if (recorded->names[i] == name)
			return (uint32_t)i;
	POST_GROW(recorded->names, recorded->name_count, recorded->name_capacity);
	recorded->names[recorded->name_count] = name;
	return (uint32_t)recorded->name_count++;
}

/* A unit counts whether it is shown or not. */
static void order_call(struct recorded *recorded, const struct post_unit_step *step)
{
	const uint32_t start = step->code->blocks[step->function].block.start;

	post_nodes_call(recorded->nodes,
			post_nodes_lane(recorded->nodes, recorded->process, step->thread),
			post_session_function(recorded->session, step->code->module, start));
}

/* The step is the last one of the lane. */
static void order_unit(struct recorded *recorded, const struct post_unit_step *step,
		       const struct unit_lane *lane)
{
	struct post_nodes *nodes = recorded->nodes;
	const size_t number = post_nodes_lane(nodes, lane->process, lane->thread);
	size_t *count = &nodes->order.lanes[number].steps;

	nodes->gaps[lane->process] |= step->kind == POST_UNIT_GAP;
	POST_WIDEN(recorded->ordered, recorded->ordered_count, number, nodes->lane_capacity);
	struct unit_items *to = &recorded->ordered[number];
	POST_GROW(to->items, *count, to->capacity);
	to->items[(*count)++] =
		(struct unit_item){(size_t)(lane - recorded->lanes), lane->count - 1};
}

static void take_unit(void *context, const struct post_unit_step *step)
{
	static const uint8_t kinds[] = {[POST_UNIT_START] = PATH_ENTERS,
					[POST_UNIT_END] = PATH_LEAVES,
					[POST_UNIT_CUT] = TOKEN_CUT,
					[POST_UNIT_GAP] = TOKEN_GAP};
	struct recorded *recorded = context;
	struct path_token token = {.kind = kinds[step->kind]};
	struct unit_lane *lane = NULL;

	if (step->code) {
		const struct post_image *image =
			recorded->session->modules[step->code->module].image;
		const struct post_symbol *symbol = post_symbols_find(
			&image->symbols, step->code->blocks[step->function].block.start);
		const char *name = symbol ? symbol->name : "?";

		if (recorded->nodes && step->kind == POST_UNIT_START)
			order_call(recorded, step);
		if (recorded->only && !path_is_named(recorded->only, name))
			return;
		token.function = name_number(recorded, name);
	}
	for (size_t i = recorded->lane_count; i-- > 0 && !lane;)
		if (recorded->lanes[i].thread == step->thread &&
		    recorded->lanes[i].process == recorded->process)
			lane = &recorded->lanes[i];
	if (!lane) {
		POST_GROW(recorded->lanes, recorded->lane_count, recorded->lane_capacity);
		lane = &recorded->lanes[recorded->lane_count++];
		*lane = (struct unit_lane){.process = recorded->process, .thread = step->thread};
	}
	POST_GROW(lane->tokens, lane->count, lane->capacity);
	lane->tokens[lane->count++] = token;
	if (recorded->nodes)
		order_unit(recorded, step, lane);
}

/* A piece of the timeline of all nodes: tokens that follow each other in a lane stand together. */
static void write_piece(void *context, size_t number, size_t first, size_t end)
{
	const struct recorded *recorded = context;
	const struct unit_item *items = recorded->ordered[number].items;

	for (size_t i = first; i < end;) {
		struct unit_lane *lane = &recorded->lanes[items[i].lane];
		const size_t from = items[i].token;

		lane->writer.count = from;
		for (; i < end && items[i].lane == (size_t)(lane - recorded->lanes); i++)
			lane->writer.count++;
		write_tokens(&lane->writer, from);
	}
}

static void write_lanes_ordered(struct recorded *recorded)
{
	post_nodes_run(recorded->nodes, write_piece, recorded);
	for (size_t i = 0; i < recorded->ordered_count; i++)
		free(recorded->ordered[i].items);
	free(recorded->ordered);
}

/* False: nothing was recorded by that mode. */
static bool write_recorded(struct post_output *output, const char *const *only)
{
	struct post_session *session = output->session;
	struct recorded recorded = {.only = only, .session = session};
	struct post_path_codes codes = {0};
	struct post_nodes nodes;
	bool found = false;

	if (post_nodes_wanted(output)) {
		post_nodes_start(&nodes, output);
		recorded.nodes = &nodes;
	}
	for (size_t i = 0; i < session->process_count; i++) {
		const size_t number = recorded.nodes ? nodes.given[i] : i;
		const struct post_process *process = session->processes[number];

		if (!process->trace || !post_units_are_in(session, process))
			continue;
		found = true;
		recorded.process = (uint32_t)number;
		post_units_read(session, process, &codes, take_unit, &recorded);
	}
	for (size_t i = 0; i < recorded.lane_count; i++) {
		struct unit_lane *lane = &recorded.lanes[i];

		lane->writer = (struct writer){.file = output->file,
					       .names = recorded.names,
					       .tokens = lane->tokens,
					       .count = lane->count};
		if (recorded.nodes) {
			lane->writer.node = nodes.labels[lane->process];
			continue;
		}
		if (session->process_count > 1)
			fprintf(output->file, "process %u, ",
				session->processes[lane->process]->trace->header.pid);
		fprintf(output->file, "thread %u\n", lane->thread);
		write_tokens(&lane->writer, 0);
	}
	if (recorded.nodes) {
		write_lanes_ordered(&recorded);
		post_nodes_release(&nodes);
	}
	for (size_t i = 0; i < recorded.lane_count; i++)
		free(recorded.lanes[i].tokens);
	post_path_codes_release(&codes);
	free(recorded.lanes);
	free(recorded.names);
	return found;
}

/* The parts of "a,b", NULL-terminated; the texts are in `copy`. */
static const char **split(char *copy)
{
	const char **globs = post_allocate(strlen(copy) + 2, sizeof(*globs));
	size_t count = 0;

	for (char *part; (part = strsep(&copy, ","));)
		if (*part)
			globs[count++] = part;
	return globs;
}

static void finish(struct post_output *output)
{
	struct post_session *session = output->session;
	const struct post_image *image;
	char *copy = output->options.function ? post_copy_text(output->options.function) : NULL;
	const char **globs = copy ? split(copy) : NULL;
	struct path_program program = {0};
	struct litifut_error error;
	const bool recorded = write_recorded(output, globs);

	image = recorded ? NULL : path_traced_image(session);
	if (recorded) {
		/* all is written */
	} else if (image && post_nodes_wanted(output)) {
		post_problem_at(session->problems, NULL, LITIFUT_NO_ADDRESS,
				"--order is for units of LITIFUT_MODE=units; what "
				"LITIFUT_MODE=paths has recorded is put in order by -f path");
	} else if (!image) {
		if (session->process_count)
			post_session_none_says(session, "in which order code was executed",
					       1u << LITIFUT_MODE_UNITS | 1u << LITIFUT_MODE_PATHS,
					       "units or paths");
	} else if (path_program_make(image, globs, &program, &error) == LITIFUT_OK) {
		write_units(output, &program);
	} else {
		post_problem(session->problems, &error);
	}
	path_program_release(&program);
	free(globs);
	free(copy);
}

const struct post_format post_format_units = {
	.name = "units",
	.summary = "functions entered, paths by number, functions left (LITIFUT_MODE=units, paths)",
	.uses = POST_USES_FUNCTION | POST_USES_ORDER,
	.flags = true,
	.finish = finish,
};
