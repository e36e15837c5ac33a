/* Beginning a walk in the middle: a word says in which code the thread is and what is on its stack,
 * and the instructions of functions show where their return addresses are (frames.h). */
#include "postproc/paths/walker.h"

/* The block behind a call that has moved to the code of an edge, which returns to the link-time
 * address there; or POST_NONE. */
static uint32_t behind_moved_call(const struct post_path_code *code, const struct post_image *image,
				  uint32_t link)
{
	const struct post_path_edge *edge = post_path_edge(code, link);
	bool records;
	uint32_t out;

	if (!edge || !code->cpu->pushed) /* else the return address is that of the site */
		return POST_NONE;
	out = post_walk_way_out(code, image, link, false, &records);
	return edge->entry && records ? edge->block
	       : out                  ? post_image_block_start(image, out)
				      : POST_NONE;
}

/* The code behind a call that was made from one of the words of a stack, which may be a return
 * address. It may be in a function that is not followed. */
static bool is_behind_call(struct post_walk *walk, const struct post_walker *walker, uint32_t word,
			   struct post_walk_place *place)
{
	uint32_t module, link;
	const struct post_path_code *code;

	if (!post_session_place(walk->process, walker->epoch, word & ~1u, &module, &link))
		return false;
	code = post_path_code(walk->codes, walk->session, module);
	const struct post_image *image = walk->session->modules[module].image;
	uint32_t number = image ? post_image_block_start(image, link) : POST_NONE;

	if (image && number == POST_NONE)
		number = behind_moved_call(code, image, link);
	if (!number || number == POST_NONE)
		return false;
	link = code->blocks[number].block.start;
	const struct litifut_block *block = &code->blocks[number].block;
	const struct litifut_block *before = &code->blocks[number - 1].block;

	*place = post_walk_start_of(code, number);
	return before->end == link && before->ends == LITIFUT_ENDS_CALL &&
	       (block->flags & LITIFUT_BLOCK_THUMB ? word & 1 : !(word & 1));
}

#define TAIL_CALLS_MOST 4

/* Is `to` the function with this number, or one that it may end in? Both by their first blocks. */
static bool may_end_in(const struct post_path_code *code, uint32_t function, uint32_t to,
		       unsigned most)
{
	if (function == to)
		return true;
	for (uint32_t i = function; most && i < code->count && code->blocks[i].function == function;
	     i++) {
		const struct post_path_block *block = &code->blocks[i];
		const uint32_t next = block->block.ends == LITIFUT_ENDS_BRANCH ? block->target
				      : block->block.ends == LITIFUT_ENDS_ON   ? block->next
									       : POST_NONE;

		/* through a pointer, to a function that such lead to */
		if (block->block.ends == LITIFUT_ENDS_JUMP &&
		    code->blocks[to].block.entered == LITIFUT_ENTERED_RECORD)
			return true;
		if (next != POST_NONE && code->blocks[next].function != function &&
		    may_end_in(code, code->blocks[next].function, to, most - 1))
			return true;
	}
	return false;
}

/* May the call before `back` have led to the function of `callee`? */
static bool may_call(const struct post_walk_place *back, const struct post_walk_place *callee)
{
	const struct post_path_block *call = &back->code->blocks[back->block - 1];

	/* code that is not followed calls functions that record it */
	if (call->target == POST_NONE)
		return callee->code->blocks[post_walk_block(callee)->function].block.entered ==
		       LITIFUT_ENTERED_RECORD;
	return back->code == callee->code &&
	       may_end_in(back->code, back->code->blocks[call->target].function,
			  post_walk_block(callee)->function, TAIL_CALLS_MOST);
}

static bool is_left(const struct post_walk_place *place)
{
	return post_walk_block(place)->block.flags & LITIFUT_BLOCK_LEFT;
}

#define CALLS_MOST 128

/* The calls that are open, the innermost first, from the place that each function has for its
 * return address. The calls that are outside one whose frame is not known are left out. */
static size_t follow_frames(struct post_walk *walk, const struct post_walker *walker,
			    uint32_t stack, const uint32_t *words, uint32_t count,
			    struct post_walk_place *found)
{
	const struct path_frame *frames = &walker->at.code->frames[walker->at.block];
	const struct cpu_frame *frame =
		walker->at.state == POST_WALK_BRANCH ? &frames->branch : &frames->start;
	struct post_walk_place callee = walker->at, back;
	size_t depth = 0;

	for (uint32_t i = 0; depth < CALLS_MOST && frame->known;) {
		const uint32_t entered = stack + frame->depth;
		const uint32_t at = frame->saved ? entered - frame->saved : stack - 4;

		/* only the innermost function may have it in a register still */
		if (!frame->saved && stack != words[-2])
			break;
		while (i + 1 < count && words[i + 1] - (words[-2] - 4) < at - (words[-2] - 4))
			i += 2;
		if (i + 1 >= count || words[i + 1] != at ||
		    !is_behind_call(walk, walker, words[i], &back) || !back.code->frames)
			break;
		if (back.code->blocks[back.block - 1].target != POST_NONE &&
		    !may_call(&back, &callee))
			break;
		if (!is_left(&back))
			found[depth++] = back;
		callee = back;
		frame = &back.code->frames[back.block].start;
		stack = entered;
		i += 2;
	}
	return depth;
}

/* Fills the stack of a thread of whose calls so many are known, the innermost. `words` are those of
 * LITIFUT_WORD_SYNC. False: they have no more. */
static bool find_calls(struct post_walk *walk, struct post_walker *walker, size_t known,
		       const uint32_t *words, uint32_t count)
{
	struct post_walk_place found[CALLS_MOST];
	size_t depth;

	if (count < 3 || !walker->at.code->frames)
		return false;
	depth = follow_frames(walk, walker, words[1], words + 3, count - 3, found);
	if (depth <= known)
		return false;
	walker->count = 0;
	post_walk_forget(walk, walker);
	while (depth) {
		struct post_walk_place back = found[--depth];

		/* in code that is not followed, which has called the function */
		if (back.code->blocks[back.block - 1].target == POST_NONE &&
		    !post_walk_block(&back)->block.entered)
			back.state = POST_WALK_CALL;
		post_walk_push(walker, back);
	}
	return true;
}

/* May calls outside of those that are known be found? Not where an interrupt has come. */
static bool may_have_more(const struct post_walker *walker)
{
	for (size_t i = 0; i < walker->count; i++)
		if (walker->frames[i].registers)
			return false;
	return walker->rootless && !walker->stops;
}

/* The thread is in the code of a jump, which leads to the block. */
static void take_jump(struct post_walk *walk, struct post_walker *walker,
		      const struct post_path_code *code, uint32_t number, const uint32_t *words,
		      uint32_t count)
{
	const bool leads = post_walk_may_jump(walker, code, number);

	if (!leads) {
		if (walker->at.state != POST_WALK_NOWHERE)
			post_walk_disagree(walk, walker, "it is not where its bits lead");
		post_walk_begin_anew(walk, walker);
	}
	walker->at = post_walk_start_of(code, number);
	if (!leads || may_have_more(walker))
		find_calls(walk, walker, leads ? walker->count : 0, words, count);
	walker->lost = false;
	post_walk_prove_entry(walk, walker);
	post_walk_execute(walk, walker);
}

/* The thread is in the code of an edge. */
void post_walk_take_sync(struct post_walk *walk, struct post_walker *walker, const uint32_t *words,
			 uint32_t count)
{
	const struct post_path_code *code = NULL;
	const struct post_path_edge *edge;
	enum post_walk_state state;
	uint32_t link, jumped;
	bool enters;

	post_walk_advance(walk, walker);
	if (count > 2)
		walker->epoch = words[2];
	edge = count ? post_walk_edge(walk, walker, words[0], &code, &link) : NULL;
	if (count && post_walk_is_jump(code, link, &jumped)) {
		take_jump(walk, walker, code, jumped, words, count);
		return;
	}
	if (!edge) {
		if (!post_path_is_without_file(code))
			post_walk_disagree(
				walk, walker,
				"it is at an address that is not in the list of branches");
		post_walk_begin_anew(walk, walker);
		return;
	}
	enters = post_walk_is_entering(code, edge, link);
	if (post_path_makes_record(&code->blocks[edge->block]) && enters) {
		const struct post_walk_place before = walker->at;

		/* else the thread begins there, or is called by code that is not followed, or an
		 * interrupt has come */
		const bool unknown =
			walker->lost || walk->process->trace->header.overwritten ||
			!(code->blocks[edge->block].block.flags & LITIFUT_BLOCK_FUNCTION);

		if (walker->at.state == POST_WALK_NOWHERE && !walker->stops &&
		    (unknown || walker->rootless)) {
			walker->at = post_walk_start_of(code, edge->block);
			/* where it began in the middle, what was called then may have returned */
			if (find_calls(walk, walker, 0, words, count) || unknown) {
				walker->rootless = true;
				walk->totals->gaps++;
				post_walk_give(walk, walker, POST_PATH_GAP);
			} else {
				walker->at = before;
			}
		} else if (walker->at.state != POST_WALK_NOWHERE && may_have_more(walker)) {
			walker->at = post_walk_start_of(code, edge->block);
			if (!find_calls(walk, walker, walker->count + 1, words, count))
				walker->at = before;
		}
		post_walk_take_record(walk, walker, code, edge->block);
		return;
	}
	state = enters ? POST_WALK_ENTRY : POST_WALK_BRANCH;
	post_walk_come_back(walk, walker);
	if (walker->at.state == state && walker->at.code == code &&
	    walker->at.block == edge->block) {
		post_walk_prove(walk, walker);
		/* it may have begun at a record, without its calls */
		if (may_have_more(walker))
			find_calls(walk, walker, walker->count, words, count);
		return;
	}
	if (walker->at.state != POST_WALK_NOWHERE)
		post_walk_disagree(walk, walker, "it is not where its bits lead");
	post_walk_begin_anew(walk, walker);
	walker->at = post_walk_start_of(code, edge->block);
	walker->at.state = state;
	walker->lost = false;
	find_calls(walk, walker, 0, words, count);
	post_walk_prove_entry(walk, walker);
	if (state == POST_WALK_BRANCH)
		post_walk_give(walk, walker, POST_PATH_BLOCK);
}
