#include "postproc/paths/numbers.h"

#include <inttypes.h>
#include <stdlib.h>

#include <litifut/numbers_format.h>
#include <litifut/trace_format.h>

#include "paths/graph.h"
#include "postproc/table.h"

/* Of one module. */
struct reader {
	struct post_session *session;
	const struct post_process *process;
	const struct post_path_code *code;
	struct path_graph graph;
	struct path_numbers numbers;
	void (*take)(void *context, const struct post_number *number);
	void *context;
	struct post_number_block *blocks; /* of a path */
	size_t count, capacity;
	uint64_t unknown; /* words that are not the number of a path */
};

/* The mapping of what has recorded them; NULL: nothing has. */
static const struct post_mapping *mapping_of(const struct post_session *session,
					     const struct post_process *process)
{
	for (size_t i = 0; i < process->mapping_count; i++) {
		const struct post_image *image =
			session->modules[process->mappings[i].module].image;

		if (image && image->mode == LITIFUT_MODE_BALLLARUS)
			return &process->mappings[i];
	}
	return NULL;
}

bool post_numbers_are_in(const struct post_session *session, const struct post_process *process)
{
	return mapping_of(session, process) != NULL;
}

bool post_numbers_make(const struct post_image *image, struct path_graph *graph,
		       struct path_numbers *numbers)
{
	const struct path_options options = {.id_bits = LITIFUT_NUMBERS_BITS};
	const struct path_blocks blocks = {
		.items = image->blocks, .count = image->block_count, .recorded = true};

	*numbers = (struct path_numbers){0};
	return path_graph_make(&blocks, graph) &&
	       path_numbers_make(&graph->flow, &options, numbers);
}

/* Where the path with this number begins, or PATH_EXIT. */
static uint32_t start_of(const struct reader *reader, const struct path_function *about,
			 uint32_t id)
{
	const uint64_t *start = reader->numbers.start;
	uint32_t found = PATH_EXIT;

	for (uint32_t i = about->first; i < about->first + about->count; i++)
		if (start[i] != UINT64_MAX && start[i] <= id &&
		    (found == PATH_EXIT || start[i] >= start[found]))
			found = i;
	return found;
}

static void add_block(struct reader *reader, uint32_t node, uint32_t edge)
{
	const uint32_t block = reader->graph.block_of[node];
	const struct path_node *about = &reader->graph.flow.nodes[node];

	/* a call under a condition has a separate node */
	if (reader->graph.node_of[block] != node)
		return;
	POST_GROW(reader->blocks, reader->count, reader->capacity);
	reader->blocks[reader->count++] = (struct post_number_block){
		block, about->count > 1 ? (int8_t)(edge - about->first) : (int8_t)-1};
}

/* Fills the blocks of the path. False: there is none with this number. */
static bool decode(struct reader *reader, uint32_t function, uint32_t id)
{
	const struct path_flow *flow = &reader->graph.flow;
	const struct path_numbers *numbers = &reader->numbers;
	uint32_t node;
	uint64_t left;

	reader->count = 0;
	if (function >= flow->function_count || id >= numbers->functions[function].paths)
		return false;
	node = start_of(reader, &flow->functions[function], id);
	if (node == PATH_EXIT)
		return false;
	left = id - numbers->start[node];
	while (node != PATH_EXIT) {
		const struct path_node *about = &flow->nodes[node];
		uint32_t edge = about->first + about->count;

		while (edge > about->first && numbers->edge_value[--edge] > left)
			;
		add_block(reader, node, edge);
		if (!about->count)
			break;
		left -= numbers->edge_value[edge];
		if (numbers->edge_ends[edge])
			break;
		node = flow->edges[edge];
	}
	return !left;
}

static void take_number(struct reader *reader, uint32_t thread, uint32_t word)
{
	const uint32_t function = (word >> 16) - 1;

	if (!decode(reader, function, word & 0xffff)) {
		reader->unknown++;
		return;
	}
	reader->take(reader->context, &(struct post_number){
					      .code = reader->code,
					      .thread = thread,
					      .function = reader->graph.first_block[function],
					      .id = word & 0xffff,
					      .blocks = reader->blocks,
					      .block_count = reader->count,
				      });
}

/* `thread' goes up with each start of the device. */
static void read_chunk(struct reader *reader, const struct post_chunk *chunk, uint32_t *thread)
{
	for (uint32_t i = 0; i < chunk->word_count; i++) {
		const uint32_t word = post_trace_word(reader->process->trace, chunk, i);
		const uint32_t control = word & ~LITIFUT_BITS_RECORD;

		if (!(word & LITIFUT_BITS_RECORD)) {
			/* less is what is left of a record that was cut */
			if (word >> 16)
				take_number(reader, *thread, word);
			continue;
		}
		i += LITIFUT_CONTROL_FOLLOWING(control) & 127;
		if (LITIFUT_CONTROL_KIND(control) == LITIFUT_WORD_RESTARTED)
			++*thread;
		if (LITIFUT_CONTROL_KIND(control) == LITIFUT_WORD_LOST ||
		    LITIFUT_CONTROL_KIND(control) == LITIFUT_WORD_STOPPED)
			reader->take(reader->context, &(struct post_number){.thread = *thread});
	}
}

void post_numbers_read(struct post_session *session, const struct post_process *process,
		       struct post_path_codes *codes,
		       void (*take)(void *context, const struct post_number *number), void *context)
{
	const struct post_mapping *mapping = mapping_of(session, process);
	struct reader reader = {
		.session = session, .process = process, .take = take, .context = context};
	const struct post_image *image;
	uint32_t thread = 1;

	if (!mapping || !process->trace)
		return;
	image = session->modules[mapping->module].image;
	reader.code = post_path_code(codes, session, mapping->module);
	if (!post_numbers_make(image, &reader.graph, &reader.numbers))
		post_out_of_memory();
	for (size_t i = 0; i < process->trace->bits_count && reader.code->count; i++)
		read_chunk(&reader, &process->trace->bits[i], &thread);
	if (reader.unknown)
		post_problem_at(session->problems, process->trace->path, LITIFUT_NO_ADDRESS,
				"%" PRIu64 " words are not numbers of paths of %s", reader.unknown,
				image->path);
	path_graph_release(&reader.graph);
	path_numbers_release(&reader.numbers);
	free(reader.blocks);
}

struct stepper {
	void (*take)(void *context, const struct post_path_step *step);
	void *context;
};

static void take_steps(void *context, const struct post_number *number)
{
	const struct stepper *stepper = context;
	struct post_path_step step = {.thread = number->thread, .code = number->code};

	if (!number->code) {
		step.kind = POST_PATH_GAP;
		stepper->take(stepper->context, &step);
	}
	for (size_t i = 0; i < number->block_count; i++) {
		step.kind = POST_PATH_BLOCK;
		step.block = number->blocks[i].block;
		stepper->take(stepper->context, &step);
		if (number->blocks[i].way < 0)
			continue;
		step.kind = number->blocks[i].way ? POST_PATH_TAKEN : POST_PATH_PASSED;
		stepper->take(stepper->context, &step);
	}
}

void post_numbers_walk(struct post_session *session, const struct post_process *process,
		       struct post_path_codes *codes,
		       void (*take)(void *context, const struct post_path_step *step),
		       void *context)
{
	post_numbers_read(session, process, codes, take_steps, &(struct stepper){take, context});
}
