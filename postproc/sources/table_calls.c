/* Tables of calls, by address. What stands in chunks of events is folded here, by the code
 * that the recorder has for it. */
#include "postproc/sources/table_calls.h"

#include <litifut/fold_words.h>
#include <stdlib.h>
#include <string.h>

#include "postproc/sources/table_chunk.h"
#include "postproc/table.h"

/* Entries of one chunk: those from the run-time address on. */
struct span_of_entries {
	uint32_t address;
	uint32_t count;
	size_t first;
};

struct reader {
	const struct post_trace *trace;
	post_exit_resolver resolve;
	void *context;
	struct post_problems *problems;
	struct post_table_call *calls;
	size_t count, capacity;
	struct span_of_entries *spans;
	size_t span_count, span_capacity;
	struct post_table index; /* from thread, address, callee and epoch to a call */
	uint32_t thread, epoch;  /* of what is being folded */
	uint64_t lost;           /* events that the recorder could not fold */
};

/* The open calls of a thread. */
struct stack {
	struct litifut_open_calls open;
	struct litifut_open_call *frames;
	uint32_t limit;
};

static uint32_t word_at(const struct reader *reader, const struct post_chunk *chunk, uint32_t bytes)
{
	return post_trace_word(reader->trace, chunk, bytes / 4);
}

static uint64_t number_at(const struct reader *reader, const struct post_chunk *chunk,
			  uint32_t bytes)
{
	uint64_t first = word_at(reader, chunk, bytes);
	uint64_t second = word_at(reader, chunk, bytes + 4);
	/* the order of the two is that of the file */
	const uint32_t mark = LITIFUT_BYTE_ORDER_MARK;
	bool little = (*(const uint8_t *)&mark == 4) != reader->trace->swap;

	return little ? second << 32 | first : first << 32 | second;
}

/* In another epoch another module may be at the same address. */
static struct post_key key_of(uint32_t thread, const struct litifut_table_call *call)
{
	return (struct post_key){{thread, call->address, call->callee, call->epoch}};
}

static uint32_t add(struct reader *reader, const struct post_table_call *call)
{
	POST_GROW(reader->calls, reader->count, reader->capacity);
	reader->calls[reader->count] = *call;
	post_table_put(&reader->index, key_of(call->thread, &call->call), (uint32_t)reader->count);
	return (uint32_t)++reader->count;
}

#define CALL(member) (at + (uint32_t)offsetof(struct litifut_table_call, member))
#define HEADER(member) ((uint32_t)offsetof(struct litifut_table_header, member))

static void read_entries(struct reader *reader, const struct post_chunk *chunk)
{
	/* Entries begin at a multiple of their size, of the chunk with its header. */
	const uint32_t first = 2 * (uint32_t)sizeof(struct litifut_table_call) -
			       (uint32_t)sizeof(struct litifut_chunk_header);
	const uint32_t bytes = chunk->word_count * 4;
	uint32_t count = word_at(reader, chunk, HEADER(count));

	if (bytes < first || count > (bytes - first) / sizeof(struct litifut_table_call)) {
		post_problem_at(reader->problems, reader->trace->path, chunk->offset,
				"a table of calls claims more entries than it has; what is there "
				"is read");
		count = bytes < first
				? 0
				: (bytes - first) / (uint32_t)sizeof(struct litifut_table_call);
	}
	POST_GROW(reader->spans, reader->span_count, reader->span_capacity);
	reader->spans[reader->span_count++] = (struct span_of_entries){
		word_at(reader, chunk, HEADER(first_site)), count, reader->count};
	for (uint32_t i = 0; i < count; i++) {
		const uint32_t at = first + i * (uint32_t)sizeof(struct litifut_table_call);
		const struct post_table_call call = {
			.thread = word_at(reader, chunk, HEADER(thread)),
			.call = {
				.address = word_at(reader, chunk, CALL(address)),
				.callee = word_at(reader, chunk, CALL(callee)),
				.exit = word_at(reader, chunk, CALL(exit)),
				.epoch = word_at(reader, chunk, CALL(epoch)),
				.count = number_at(reader, chunk, CALL(count)),
				.untimed = number_at(reader, chunk, CALL(untimed)),
				.minimum_inverted =
					number_at(reader, chunk, CALL(minimum_inverted)),
				.maximum = number_at(reader, chunk, CALL(maximum)),
				.sum = number_at(reader, chunk, CALL(sum)),
				.self = number_at(reader, chunk, CALL(self)),
			}};

		add(reader, &call);
	}
}

/* Index + 1 of the entry at a run-time address; 0: there is none. */
static uint32_t entry_at(const struct reader *reader, uint32_t address)
{
	for (size_t i = 0; i < reader->span_count; i++) {
		const struct span_of_entries *span = &reader->spans[i];
		uint32_t number =
			(address - span->address) / (uint32_t)sizeof(struct litifut_table_call);

		if (address >= span->address && number < span->count)
			return (uint32_t)(span->first + number + 1);
	}
	return 0;
}

#define FRAME(member) (at + (uint32_t)offsetof(struct litifut_open_call, member))
#define OPEN(member) ((uint32_t)offsetof(struct litifut_open_calls, member))

/* `chunk`: NULL for a thread that has none yet. */
static void read_stack(struct reader *reader, const struct post_chunk *chunk, struct stack *stack)
{
	const uint32_t frame_bytes = (uint32_t)sizeof(struct litifut_open_call);

	*stack = (struct stack){0};
	stack->limit = reader->trace->header.chunk_bytes / frame_bytes;
	stack->frames = post_allocate(stack->limit + 1, sizeof(*stack->frames));
	if (!chunk || chunk->word_count * 4 < sizeof(struct litifut_open_calls))
		return;
	stack->open.thread = word_at(reader, chunk, OPEN(thread));
	stack->open.now = number_at(reader, chunk, OPEN(now));
	stack->open.epoch = word_at(reader, chunk, OPEN(epoch));
	stack->open.taken = number_at(reader, chunk, OPEN(taken));
	reader->lost += word_at(reader, chunk, OPEN(lost));
	uint32_t depth = word_at(reader, chunk, OPEN(depth));
	uint32_t room =
		(chunk->word_count * 4 - (uint32_t)sizeof(struct litifut_open_calls)) / frame_bytes;
	if (depth > room) {
		post_problem_at(reader->problems, reader->trace->path, chunk->offset,
				"%u open calls, for which there is no room; left out", depth);
		depth = 0;
	}
	for (uint32_t i = 0; i < depth; i++) {
		const uint32_t at = (uint32_t)sizeof(struct litifut_open_calls) + i * frame_bytes;
		struct litifut_open_call *frame = &stack->frames[stack->open.depth];

		frame->entry = entry_at(reader, word_at(reader, chunk, FRAME(entry)));
		frame->stack_pointer = word_at(reader, chunk, FRAME(stack_pointer));
		frame->start = number_at(reader, chunk, FRAME(start));
		frame->children = number_at(reader, chunk, FRAME(children));
		if (frame->entry)
			stack->open.depth++;
		else
			post_problem_at(reader->problems, reader->trace->path, chunk->offset,
					"an open call that is not in a table, left out");
	}
}

static uint32_t find(void *context, uint32_t address, uint32_t callee, bool tail)
{
	struct reader *reader = context;
	const struct post_table_call call = {
		.thread = reader->thread,
		.call = {.address = address,
			 .callee = callee,
			 .exit = tail ? LITIFUT_TABLE_TAIL : 0,
			 .epoch = reader->epoch},
	};
	uint32_t number = post_table_find(&reader->index, key_of(reader->thread, &call.call));

	return number != POST_NONE ? number + 1 : add(reader, &call);
}

static struct litifut_fold_index no_index(void *context)
{
	(void)context;
	return (struct litifut_fold_index){0};
}

static uint32_t look(const struct litifut_fold_index *index, uint32_t address, uint32_t callee)
{
	(void)index;
	(void)address;
	(void)callee;
	return 0;
}

static struct litifut_table_call *entry(void *context, uint32_t handle)
{
	struct reader *reader = context;

	return &reader->calls[handle - 1].call;
}

static bool returns_by(void *context, struct litifut_table_call *call, uint32_t exit)
{
	struct reader *reader = context;

	if (!call->exit) {
		uint32_t known = reader->resolve(reader->context, call->epoch, exit);
		/* without the file with its call sites, the stack pointer has to do */
		if (!known || known == call->address)
			call->exit = exit;
	}
	return call->exit == exit;
}

static void begin_epoch(void *context, uint32_t epoch)
{
	struct reader *reader = context;

	reader->epoch = epoch;
}

static void fold(struct reader *reader, const struct post_chunk *chunk, struct stack *stack)
{
	static const struct litifut_fold_ways ways = {no_index, look,       find,
						      entry,    returns_by, begin_epoch};
	const struct litifut_fold folded = {
		.open = &stack->open,
		.frames = stack->frames,
		.limit = stack->limit,
		.cost = reader->trace->header.event_cost,
		.context = reader,
	};
	uint32_t *words = post_allocate(chunk->word_count + 1, sizeof(*words));

	for (uint32_t i = 0; i < chunk->word_count; i++)
		words[i] = post_trace_word(reader->trace, chunk, i);
	/* a thread begins where its stack of open calls says, or with its first chunk */
	reader->epoch = chunk->epoch;
	if (stack->open.epoch > reader->epoch)
		reader->epoch = stack->open.epoch;
	litifut_fold_reach(&folded, chunk->start_time);
	litifut_fold_words(&folded, &ways, words, words + chunk->word_count, true);
	free(words);
}

/* The open calls of the chunk's thread, and the events that have not been folded into them. */
static void finish_stack(struct reader *reader, const struct post_chunk *chunk, uint32_t thread)
{
	const struct post_trace *trace = reader->trace;
	struct stack stack;

	read_stack(reader, chunk, &stack);
	reader->thread = thread;
	for (size_t i = 0; i < trace->unfolded_count; i++)
		if (trace->unfolded[i].thread == thread)
			fold(reader, &trace->unfolded[i], &stack);
	for (uint32_t i = 0; i < stack.open.depth; i++)
		reader->calls[stack.frames[i].entry - 1].open++;
	free(stack.frames);
}

static uint32_t thread_of_stack(const struct reader *reader, const struct post_chunk *chunk)
{
	return chunk->word_count * 4 < sizeof(struct litifut_open_calls)
		       ? chunk->thread
		       : word_at(reader, chunk, OPEN(thread));
}

/* Those that no thread with a table has recorded: short threads. */
static void finish_others(struct reader *reader)
{
	const struct post_trace *trace = reader->trace;

	for (size_t i = 0; i < trace->unfolded_count; i++) {
		uint32_t thread = trace->unfolded[i].thread;
		bool known = false;

		for (size_t k = 0; k < trace->stack_count; k++)
			known |= thread_of_stack(reader, &trace->stacks[k]) == thread;
		for (size_t k = 0; k < i; k++)
			known |= trace->unfolded[k].thread == thread;
		if (!known)
			finish_stack(reader, NULL, thread);
	}
}

uint64_t post_table_calls_read(const struct post_trace *trace, post_exit_resolver resolve,
			       void (*take)(void *context, const struct post_table_call *call),
			       void *context, struct post_problems *problems)
{
	struct reader reader = {
		.trace = trace, .resolve = resolve, .context = context, .problems = problems};

	for (size_t i = 0; i < trace->table_count; i++)
		if (post_table_is_by_address(trace, &trace->tables[i]))
			read_entries(&reader, &trace->tables[i]);
	for (size_t i = 0; i < trace->stack_count; i++)
		finish_stack(&reader, &trace->stacks[i],
			     thread_of_stack(&reader, &trace->stacks[i]));
	finish_others(&reader);
	for (size_t i = 0; i < reader.count; i++)
		if (reader.calls[i].call.count)
			take(context, &reader.calls[i]);
	free(reader.calls);
	free(reader.spans);
	post_table_release(&reader.index);
	return reader.lost;
}
