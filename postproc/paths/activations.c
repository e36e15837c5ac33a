#include "postproc/paths/activations.h"

#include <stdlib.h>

#include "postproc/table.h"

static struct post_path_thread *find_thread(const struct post_path_tracker *tracker, uint32_t id)
{
	for (size_t i = tracker->count; i-- > 0;)
		if (tracker->threads[i].id == id)
			return &tracker->threads[i];
	return NULL;
}

const struct post_path_thread *post_path_thread(const struct post_path_tracker *tracker,
						uint32_t id)
{
	return find_thread(tracker, id);
}

/* The path of the innermost activation ends. */
static void end_path(struct post_path_tracker *tracker, struct post_path_thread *thread,
		     enum post_path_ending ending, uint32_t loops_to)
{
	struct post_path_activation *activation = &thread->open[thread->count - 1];

	if (tracker->take && activation->code && !activation->partial &&
	    thread->block_count > activation->first) {
		const struct post_path_piece piece = {
			.thread = thread,
			.thread_index = (size_t)(thread - tracker->threads),
			.depth = thread->count - 1,
			.blocks = thread->blocks + activation->first,
			.count = thread->block_count - activation->first,
			.ending = ending,
			.loops_to = loops_to,
		};

		tracker->take(tracker->context, &piece);
	}
	thread->block_count = activation->first;
	activation->partial = false;
	activation->began = thread->steps;
}

static void leave(struct post_path_tracker *tracker, struct post_path_thread *thread,
		  enum post_path_ending ending)
{
	if (tracker->leave)
		tracker->leave(tracker->context, thread);
	end_path(tracker, thread, ending, 0);
	thread->count--;
}

uint32_t post_path_caller(const struct post_path_thread *thread, size_t depth)
{
	const struct post_path_activation *inner = &thread->open[depth], *outer = inner - 1;

	return depth && outer->code && inner->first > outer->first
		       ? thread->blocks[inner->first - 1]
		       : POST_NONE;
}

static void enter(struct post_path_thread *thread, const struct post_path_code *code,
		  uint32_t function, bool partial)
{
	POST_GROW(thread->open, thread->count, thread->capacity);
	thread->open[thread->count++] = (struct post_path_activation){
		.code = code,
		.function = function,
		.first = thread->block_count,
		.partial = partial,
		.began = thread->steps,
		.cost_before = thread->cost,
	};
}

static void add_block(struct post_path_tracker *tracker, struct post_path_thread *thread,
		      const struct post_path_step *step)
{
	POST_GROW(thread->blocks, thread->block_count, thread->block_capacity);
	thread->blocks[thread->block_count++] = step->block;
	thread->steps++;
	if (tracker->cost)
		thread->cost += tracker->cost(tracker->context, step->code, step->block);
}

/* Does control go from the last block of the innermost activation to `block` without leaving the
 * function? */
static bool goes_on(const struct post_path_thread *thread, const struct post_path_step *step)
{
	const struct post_path_activation *activation = &thread->open[thread->count - 1];
	const struct post_path_block *to = &step->code->blocks[step->block];
	const struct post_path_block *last;

	if (activation->code != step->code || activation->function != to->function)
		return false;
	if (step->block != to->function)
		return true;
	/* a loop around the whole function, or the next call of it */
	last = &step->code->blocks[thread->blocks[thread->block_count - 1]];
	return last->block.ends != LITIFUT_ENDS_CALL &&
	       (last->target == step->block || last->next == step->block);
}

bool post_path_track(struct post_path_tracker *tracker, const struct post_path_step *step)
{
	struct post_path_thread *thread = find_thread(tracker, step->thread);
	const size_t depth = step->depth;
	bool begins;

	if (!thread) {
		POST_GROW(tracker->threads, tracker->count, tracker->capacity);
		thread = &tracker->threads[tracker->count++];
		*thread = (struct post_path_thread){.id = step->thread};
	}
	if (step->kind == POST_PATH_GAP) {
		/* what was open may still be, but nothing is known of it any more */
		for (; thread->count; thread->count--) {
			if (tracker->leave)
				tracker->leave(tracker->context, thread);
			thread->block_count = thread->open[thread->count - 1].first;
		}
		return false;
	}
	if (step->kind != POST_PATH_BLOCK)
		return false;
	const uint32_t function = step->code->blocks[step->block].function;

	while (thread->count > depth + 1)
		leave(tracker, thread, POST_PATH_RETURNS);
	while (thread->count < depth)
		enter(thread, NULL, 0, true);
	begins = step->block == function;
	if (thread->count == depth) {
		enter(thread, step->code, function, !begins);
	} else if (!thread->open[depth].code) {
		leave(tracker, thread, POST_PATH_RETURNS);
		enter(thread, step->code, function, !begins);
	} else if (!goes_on(thread, step)) {
		leave(tracker, thread, POST_PATH_RETURNS);
		enter(thread, step->code, function, false);
	} else {
		begins = false;
		if (step->block <= thread->blocks[thread->block_count - 1])
			end_path(tracker, thread, POST_PATH_LOOPS, step->block);
	}
	add_block(tracker, thread, step);
	return begins;
}

void post_path_track_end(struct post_path_tracker *tracker)
{
	for (size_t i = 0; i < tracker->count; i++) {
		struct post_path_thread *thread = &tracker->threads[i];

		while (thread->count)
			leave(tracker, thread, POST_PATH_STOPS);
		free(thread->open);
		free(thread->blocks);
	}
	free(tracker->threads);
	tracker->threads = NULL;
	tracker->count = tracker->capacity = 0;
}
