/* Reads the words of a process's threads, and lets each of them go on accordingly (walker.h). */
#include "postproc/paths/walk.h"

#include <stdlib.h>

#include "postproc/paths/numbers.h"
#include "postproc/paths/units.h"
#include "postproc/paths/walker.h"

/* The edge whose code has the run-time address; *code is its module's, *link the same address as
 * it was linked. */
const struct post_path_edge *post_walk_edge(struct post_walk *walk,
					    const struct post_walker *walker, uint32_t address,
					    const struct post_path_code **code, uint32_t *link)
{
	uint32_t module;

	if (!post_session_place(walk->process, walker->epoch, address, &module, link))
		return NULL;
	*link &= ~1u;
	*code = post_path_code(walk->codes, walk->session, module);
	return post_path_edge(*code, *link);
}

/* Is the thread in the code that records the start of the block? The code of a branch at the start
 * of its block begins with that when nothing else stands there for it. */
bool post_walk_is_entering(const struct post_path_code *code, const struct post_path_edge *edge,
			   uint32_t address)
{
	const struct litifut_block *block = &code->blocks[edge->block].block;
	const bool thumb = block->flags & LITIFUT_BLOCK_THUMB;

	return edge->entry || (edge->both && block->entered &&
			       address - edge->address <= code->cpu->edge_call_bytes[thumb]);
}

static struct post_walker *take_address(struct post_walk *walk, struct post_walker *walker,
					uint32_t address)
{
	const struct post_path_code *code = NULL;
	uint32_t link, number;
	const struct post_path_edge *edge = post_walk_edge(walk, walker, address, &code, &link);

	walk->totals->records++;
	if (post_walk_is_jump(code, link, &number)) {
		walker = post_walk_settle(walk, walker);
		post_walk_take_jump(walk, walker, code, number);
		return walker;
	}
	if (!edge || !post_path_makes_record(&code->blocks[edge->block])) {
		if (!post_path_is_without_file(code))
			post_walk_disagree(walk, walker, "a record is not of the start of a block");
		post_walk_begin_anew(walk, walker);
		return walker;
	}
	walker = post_walk_settle(walk, walker);
	post_walk_take_record(walk, walker, code, edge->block);
	return walker;
}

/* Words are missing: where tasks are is not known any more. */
static void take_loss(struct post_walk *walk)
{
	for (size_t i = walk->first; i < walk->count; i++) {
		walk->walkers[i].count = 0;
		post_walk_forget(walk, &walk->walkers[i]);
		walk->walkers[i].at.state = POST_WALK_NOWHERE;
		walk->walkers[i].lost = walk->walkers[i].rootless = true;
		walk->walkers[i].is_task = walk->walkers[i].switching = false;
		walk->walkers[i].stops = walk->walkers[i].registers = walk->walkers[i].outer = 0;
		walk->walkers[i].begun = POST_NONE;
	}
}

/* All threads go to where the code alone leads them. */
static void finish(struct post_walk *walk)
{
	for (size_t i = walk->first; i < walk->count; i++) {
		post_walk_advance(walk, &walk->walkers[i]);
		post_walk_end_thread(walk, &walk->walkers[i]);
	}
}

/* What a control word says, whose `words` follow it. */
static struct post_walker *take_control(struct post_walk *walk, struct post_walker *walker,
					unsigned kind, const uint32_t *words, uint32_t count)
{
	if (kind == LITIFUT_WORD_SYNC) {
		walker = post_walk_settle(walk, walker);
		walker->unknown = false;
		post_walk_take_sync(walk, walker, words, count);
	}
	if (!count)
		return walker;
	switch (kind) {
	case LITIFUT_WORD_THREAD:
		/* it has ended, and the process has not */
		post_walk_advance(walk, walker);
		post_walk_prove(walk, walker);
		return post_walk_thread(walk, words[0]);
	case LITIFUT_WORD_EPOCH:
		walker->epoch = words[0];
		break;
	case LITIFUT_WORD_BLOCK:
		return take_address(walk, walker, words[0]);
	case LITIFUT_WORD_STOPPED:
	case LITIFUT_WORD_LOST:
		take_loss(walk);
		break;
	case LITIFUT_WORD_RESTARTED:
		finish(walk);
		walk->first = walk->count;
		return post_walk_thread(walk, (uint32_t)walk->count + 1);
	case LITIFUT_WORD_INTERRUPT:
		return count < 2 ? walker
				 : post_walk_take_interrupt(walk, walker, words[0], words[1]);
	case LITIFUT_WORD_TASK_SAVED:
		post_walk_take_saved(walker, words[0]);
		break;
	case LITIFUT_WORD_TASK_RESUMED:
		post_walk_take_resumed(walker, words[0]);
		break;
	default:
		break;
	}
	return walker;
}

static void walk_words(struct post_walk *walk, size_t number, uint32_t first,
		       struct post_walker *walker);

/* From chunk number `first` on. */
static void walk_chunks(struct post_walk *walk, size_t first)
{
	const struct post_trace *trace = walk->process->trace;
	uint64_t words = 0, done = 0;

	for (size_t i = first; i < trace->bits_count; i++)
		words += trace->bits[i].word_count;
	for (size_t i = first; i < trace->bits_count; i++) {
		struct post_walker *walker = post_walk_thread(walk, trace->bits[i].thread);

		if (walk->session->walked && !walk->looking)
			walk->session->walked(NULL, 4 * done, 4 * words);
		walker->epoch = trace->bits[i].epoch;
		walk_words(walk, i, 0, walker);
		done += trace->bits[i].word_count;
	}
	finish(walk);
}

/* Finds out what nothing proves, from word number `first` of the chunk on. */
static void look_ahead(struct post_walk *walk, size_t number, uint32_t first,
		       const struct post_walker *walker)
{
	struct post_path_totals unused = {0};
	struct post_walk ahead;

	post_walk_begin_to_look(walk, &ahead, &unused);
	walk_words(&ahead, number, first, &ahead.walkers[walker - walk->walkers]);
	walk_chunks(&ahead, number + 1);
	post_walk_have_looked(walk, &ahead);
}

/* The thread goes on, which has stored the chunk, or another task that has taken its place: from
 * word number `first` on. */
static void walk_words(struct post_walk *walk, size_t number, uint32_t first,
		       struct post_walker *walker)
{
	const struct post_trace *trace = walk->process->trace;
	const struct post_chunk *chunk = &trace->bits[number];
	uint32_t words[128];

	for (uint32_t i = first; i < chunk->word_count; i++) {
		uint32_t word = post_trace_word(trace, chunk, i);
		uint32_t count;

		if (!word)
			continue;
		if (post_walk_holds_much(walk))
			look_ahead(walk, number, i, walker);
		walk->offset = chunk->offset + (uint64_t)i * 4;
		walk->totals->words++;
		if (!(word & LITIFUT_BITS_RECORD)) {
			if (!walker->unknown)
				walker = post_walk_take_bits(walk, walker, word);
			continue;
		}
		word &= ~LITIFUT_BITS_RECORD;
		if (word >= LITIFUT_WORD_FIRST_ADDRESS / 2) {
			if (!walker->unknown)
				walker = take_address(walk, walker, word << 1);
			continue;
		}
		count = LITIFUT_CONTROL_FOLLOWING(word) & 127;
		if (count > chunk->word_count - 1 - i)
			count = chunk->word_count - 1 - i;
		for (uint32_t j = 0; j < count; j++)
			words[j] = post_trace_word(trace, chunk, i + 1 + j);
		walk->totals->words += count;
		i += count;
		walker = take_control(walk, walker, LITIFUT_CONTROL_KIND(word), words, count);
	}
	/* before what other threads have done later */
	post_walk_advance(walk, walker);
}

void post_paths_walk_from(struct post_session *session, const struct post_process *process,
			  size_t first, struct post_path_codes *codes,
			  void (*take)(void *context, const struct post_path_step *step),
			  void *context, struct post_path_totals *totals)
{
	struct post_walk walk = {
		.session = session,
		.process = process,
		.codes = codes,
		.take = take,
		.context = context,
		.totals = totals,
		.within = first > 0,
		.ended = process->trace->header.state == LITIFUT_TRACE_STOPPED &&
			 !process->trace->bare,
	};

	if (post_units_are_in(session, process)) {
		post_problem_at(session->problems, process->trace->path, LITIFUT_NO_ADDRESS,
				"LITIFUT_MODE=units has recorded which units were executed, and "
				"nothing of their branches: use -f units");
		return;
	}
	if (post_numbers_are_in(session, process)) {
		post_problem_at(session->problems, process->trace->path, LITIFUT_NO_ADDRESS,
				"LITIFUT_MODE=balllarus has recorded paths of functions, and not "
				"which of them has called which: use -f ids, path or blocks");
		return;
	}
	walk_chunks(&walk, first);
	post_walk_end_held(&walk);
	post_walk_release(&walk);
	if (walk.reported > POST_WALK_REPORTED)
		post_problem_at(session->problems, process->trace->path, LITIFUT_NO_ADDRESS,
				"%u more places where bits and code do not agree",
				walk.reported - POST_WALK_REPORTED);
}

void post_paths_walk(struct post_session *session, const struct post_process *process,
		     struct post_path_codes *codes,
		     void (*take)(void *context, const struct post_path_step *step), void *context,
		     struct post_path_totals *totals)
{
	post_paths_walk_from(session, process, 0, codes, take, context, totals);
}
