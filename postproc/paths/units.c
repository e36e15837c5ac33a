/* The records are those of LITIFUT_MODE=paths, of other places: each says by its address that a
 * unit has started or ended. A bit says that the unit which has started last has ended. So a stack
 * for each thread is enough, as in algorithm 1 of "Diagnostic tracing for wireless sensor networks"
 * (2013). */
#include "postproc/paths/units.h"

#include <stdlib.h>

/* So many disagreements are reported one by one. */
#define REPORTED_MOST 20

struct open_unit {
	const struct post_path_code *code;
	uint32_t function;
	bool interrupts;    /* the handler has said what it has interrupted: a task */
	uint32_t registers; /* and where the CPU has put that one's registers, bit 0 set, or 0 */
	bool switches;      /* when it ends, the task with the stack pointer `task` goes on */
	uint32_t task;
};

struct lane {
	uint32_t thread;
	uint32_t epoch;
	struct open_unit *open;
	size_t count, capacity;
	bool lost;          /* words are missing: what was open then is not known */
	bool unknown;       /* and no record has come since, so the words may be the rest of one */
	bool interrupted;   /* the next unit that starts is the handler */
	uint32_t registers; /* of what it has interrupted, as in struct open_unit */
	bool is_task;       /* whose stack pointer was this when it was interrupted the last time */
	uint32_t stack;
};

struct reader {
	struct post_session *session;
	const struct post_process *process;
	struct post_path_codes *codes;
	void (*take)(void *context, const struct post_unit_step *step);
	void *context;
	struct lane *lanes;
	size_t count, capacity;
	size_t first; /* of those that have not ended by a restart */
	size_t now;   /* the one that goes on */
	uint64_t offset;
	unsigned reported;
};

static void disagree(struct reader *reader, const char *message)
{
	if (reader->reported++ < REPORTED_MOST)
		post_problem_at(reader->session->problems, reader->process->trace->path,
				reader->offset, "thread %u: %s; it is left out",
				reader->lanes[reader->now].thread, message);
}

static void give(struct reader *reader, enum post_unit_kind kind, const struct open_unit *unit)
{
	const struct post_unit_step step = {
		.kind = kind,
		.thread = reader->lanes[reader->now].thread,
		.code = unit ? unit->code : NULL,
		.function = unit ? unit->function : 0,
	};

	reader->take(reader->context, &step);
}

/* What is open in the thread is not known. */
static void lose(struct reader *reader, size_t number)
{
	const size_t now = reader->now;

	reader->now = number;
	reader->lanes[number].count = 0;
	reader->lanes[number].interrupted = false;
	reader->lanes[number].lost = true;
	if (!reader->lanes[number].unknown) /* or there is a gap already */
		give(reader, POST_UNIT_GAP, NULL);
	reader->now = now;
}

static size_t lane_of(struct reader *reader, uint32_t thread)
{
	for (size_t i = reader->count; i-- > 0;)
		if (reader->lanes[i].thread == thread)
			return i;
	POST_GROW(reader->lanes, reader->count, reader->capacity);
	reader->lanes[reader->count] = (struct lane){.thread = thread};
	if (reader->process->trace->header.overwritten)
		lose(reader, reader->count);
	return reader->count++;
}

/* The task with this stack pointer. A new one becomes a separate thread. */
static void go_to_task(struct reader *reader, uint32_t stack)
{
	const struct lane *lane = &reader->lanes[reader->now];

	if (lane->is_task && lane->stack == stack)
		return;
	for (size_t i = reader->count; i-- > reader->first;)
		if (reader->lanes[i].is_task && reader->lanes[i].stack == stack) {
			reader->now = i;
			return;
		}
	reader->now = lane_of(reader, (uint32_t)reader->count + 1);
	reader->lanes[reader->now].is_task = true;
	reader->lanes[reader->now].stack = stack;
}

static void take_resumed(struct reader *reader, uint32_t stack)
{
	struct lane *lane = &reader->lanes[reader->now];

	/* the outermost handler returns to it */
	for (size_t i = 0; i < lane->count; i++) {
		if (!lane->open[i].interrupts)
			continue;
		lane->open[i].switches = true;
		lane->open[i].task = stack;
		/* as where the CPU has put its registers; what reads that need not be recorded */
		if (lane->open[i].registers & 1) {
			lane->is_task = true;
			lane->stack = lane->open[i].registers & ~1u;
		}
		return;
	}
	go_to_task(reader, stack);
}

static void take_start(struct reader *reader, const struct post_path_code *code, uint32_t function)
{
	struct lane *lane = &reader->lanes[reader->now];
	const struct open_unit unit = {.code = code,
				       .function = function,
				       .interrupts = lane->interrupted,
				       .registers = lane->interrupted ? lane->registers : 0};

	POST_GROW(lane->open, lane->count, lane->capacity);
	lane->open[lane->count++] = unit;
	lane->interrupted = false;
	give(reader, POST_UNIT_START, &unit);
}

static void leave(struct reader *reader, enum post_unit_kind kind)
{
	struct lane *lane = &reader->lanes[reader->now];
	const struct open_unit unit = lane->open[--lane->count];

	give(reader, kind, &unit);
	/* control has stayed where a handler is cut: a unit below it ends there */
	if (kind == POST_UNIT_END && unit.switches)
		go_to_task(reader, unit.task);
}

static void take_end(struct reader *reader, const struct post_path_code *code, uint32_t function)
{
	const struct open_unit unit = {.code = code, .function = function};
	struct lane *lane = &reader->lanes[reader->now];
	size_t depth = lane->count;

	while (depth &&
	       (lane->open[depth - 1].code != code || lane->open[depth - 1].function != function))
		depth--;
	if (!depth) { /* its start is not there */
		give(reader, POST_UNIT_END, &unit);
		return;
	}
	while (lane->count > depth)
		leave(reader, POST_UNIT_CUT);
	leave(reader, POST_UNIT_END);
}

/* Has the unit one piece of code, which records its end by a bit? */
static bool is_whole(const struct post_path_code *code, const struct post_path_edge *edge)
{
	return code->blocks[edge->block].block.taken == LITIFUT_ENTERED_BIT;
}

/* Does the code of the edge record at the link-time address, behind its call, that the unit
 * starts? */
static bool is_start(const struct post_path_code *code, const struct post_path_edge *edge,
		     uint32_t link)
{
	const struct litifut_block *block = &code->blocks[edge->block].block;
	const bool thumb = block->flags & LITIFUT_BLOCK_THUMB;

	if (block->entered != LITIFUT_ENTERED_RECORD || edge->end)
		return false;
	/* more is recorded there */
	if (!edge->entry || is_whole(code, edge))
		return link - edge->address <= code->cpu->edge_call_bytes[thumb];
	return true;
}

static void take_address(struct reader *reader, uint32_t address)
{
	struct lane *lane = &reader->lanes[reader->now];
	const struct post_path_code *code = NULL;
	const struct post_path_edge *edge = NULL;
	uint32_t module, link = 0;

	if (post_session_place(reader->process, lane->epoch, address, &module, &link)) {
		link &= ~1u;
		code = post_path_code(reader->codes, reader->session, module);
		edge = post_path_edge(code, link);
	}
	if (edge)
		lane->unknown = false;
	if (post_path_is_without_file(code))
		lane->lost = true;
	else if (!edge || code->blocks[edge->block].block.flags & LITIFUT_BLOCK_LEFT)
		disagree(reader, "a record is not of the start or the end of a unit");
	else if (lane->interrupted || is_start(code, edge, link))
		take_start(reader, code, code->blocks[edge->block].function);
	else if (!is_whole(code, edge)) /* else the bit follows a SYNC */
		take_end(reader, code, code->blocks[edge->block].function);
}

static void take_bits(struct reader *reader, uint32_t word)
{
	unsigned count = 31;

	while (!(word >> count))
		count--;
	for (; count; count--) {
		const struct lane *lane = &reader->lanes[reader->now];

		if (lane->count)
			leave(reader, POST_UNIT_END);
		else if (!lane->lost)
			disagree(reader, "a unit ends, but none has started");
	}
}

/* Words are missing, of whichever thread. */
static void take_loss(struct reader *reader)
{
	for (size_t i = reader->first; i < reader->count; i++) {
		lose(reader, i);
		reader->lanes[i].unknown = true;
	}
}

static void take_control(struct reader *reader, unsigned kind, const uint32_t *words,
			 uint32_t count)
{
	struct lane *lane = &reader->lanes[reader->now];

	if (!count)
		return;
	switch (kind) {
	case LITIFUT_WORD_SYNC:
		if (count > 2)
			lane->epoch = words[2];
		take_address(reader, words[0]);
		break;
	case LITIFUT_WORD_BLOCK:
		take_address(reader, words[0]);
		break;
	case LITIFUT_WORD_THREAD:
		reader->now = lane_of(reader, words[0]);
		break;
	case LITIFUT_WORD_EPOCH:
		lane->epoch = words[0];
		break;
	case LITIFUT_WORD_STOPPED:
	case LITIFUT_WORD_LOST:
		take_loss(reader);
		break;
	case LITIFUT_WORD_RESTARTED:
		reader->first = reader->count;
		reader->now = lane_of(reader, (uint32_t)reader->count + 1);
		break;
	case LITIFUT_WORD_INTERRUPT:
		lane->interrupted = true;
		lane->registers = count > 1 ? words[1] : 0;
		break;
	case LITIFUT_WORD_TASK_SAVED:
		lane->is_task = true;
		lane->stack = words[0];
		break;
	case LITIFUT_WORD_TASK_RESUMED:
		take_resumed(reader, words[0]);
		break;
	default:
		break;
	}
}

static void read_chunk(struct reader *reader, const struct post_chunk *chunk)
{
	const struct post_trace *trace = reader->process->trace;
	uint32_t words[3];

	reader->now = lane_of(reader, chunk->thread);
	reader->lanes[reader->now].epoch = chunk->epoch;
	for (uint32_t i = 0; i < chunk->word_count; i++) {
		uint32_t word = post_trace_word(trace, chunk, i);
		uint32_t count;

		reader->offset = chunk->offset + (uint64_t)i * 4;
		if (!word)
			continue;
		if (!(word & LITIFUT_BITS_RECORD)) {
			if (!reader->lanes[reader->now].unknown)
				take_bits(reader, word);
			continue;
		}
		word &= ~LITIFUT_BITS_RECORD;
		if (word >= LITIFUT_WORD_FIRST_ADDRESS / 2) {
			take_address(reader, word << 1);
			continue;
		}
		count = LITIFUT_CONTROL_FOLLOWING(word) & 127;
		if (count > chunk->word_count - 1 - i)
			count = chunk->word_count - 1 - i;
		for (uint32_t j = 0; j < count && j < 3; j++)
			words[j] = post_trace_word(trace, chunk, i + 1 + j);
		i += count;
		take_control(reader, LITIFUT_CONTROL_KIND(word), words, count < 3 ? count : 3);
	}
}

bool post_units_are_in(const struct post_session *session, const struct post_process *process)
{
	for (size_t i = 0; i < process->mapping_count; i++) {
		const struct post_image *image =
			session->modules[process->mappings[i].module].image;

		if (image && image->mode == LITIFUT_MODE_UNITS)
			return true;
	}
	return false;
}

void post_units_read(struct post_session *session, const struct post_process *process,
		     struct post_path_codes *codes,
		     void (*take)(void *context, const struct post_unit_step *step), void *context)
{
	struct reader reader = {.session = session,
				.process = process,
				.codes = codes,
				.take = take,
				.context = context};

	for (size_t i = 0; i < process->trace->bits_count; i++)
		read_chunk(&reader, &process->trace->bits[i]);
	if (reader.reported > REPORTED_MOST)
		post_problem_at(session->problems, process->trace->path, LITIFUT_NO_ADDRESS,
				"%u more words that make no sense",
				reader.reported - REPORTED_MOST);
	for (size_t i = 0; i < reader.count; i++)
		free(reader.lanes[i].open);
	free(reader.lanes);
}
