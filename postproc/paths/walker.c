/* A thread is always at a place where only the trace can tell how it goes on: a conditional branch,
 * a block that records that control comes to it, a jump to where a register says, or a call of code
 * that is not followed. The next bit or record takes it from there to the next such place.
 *
 * A record that is for another block is that of a function which something else has called: code
 * that is not followed (a callback), or the kernel (a signal handler). Its calls are open
 * above those of the thread, and when it returns the thread is where it was. Or it is where
 * longjmp() or an exception leads: then a function of that block is among those that have been
 * called.
 *
 * A kernel on a microcontroller changes the task in an interrupt handler: records say from which
 * stack pointer the tasks are, and the return of that handler leads to where the other task was.
 *
 * More than 500 lines in one file, because what runs for each bit is inlined where that is read. */
#include "postproc/paths/walker.h"

#include <stdlib.h>

#include "cpu/cpu.h"

void post_walk_disagree(struct post_walk *walk, const struct post_walker *walker,
			const char *message)
{
	if (walk->looking)
		return;
	if (walk->reported++ < POST_WALK_REPORTED)
		post_problem_at(walk->session->problems, walk->process->trace->path, walk->offset,
				"thread %u: %s; what follows is left out up to the next record "
				"that has its address (a coroutine, or a jump that is neither a "
				"longjmp nor an exception, can cause this)",
				walker->thread, message);
}

/* This, end_block(), execute() and advance() run for each bit: they are inlined where that is read,
 * and other files call them by their long names. */
#define EACH_BIT static inline __attribute__((always_inline))

EACH_BIT void give(struct post_walk *walk, struct post_walker *walker, enum post_path_kind kind)
{
	const uint64_t number = walk->given++;
	bool open = false;

	if (kind == POST_PATH_BLOCK && !walk->known)
		open = post_walk_is_open(walker, number);
	else if (kind == POST_PATH_BLOCK && post_walk_is_unproved(walk, number))
		kind = POST_PATH_POSSIBLE;
	if (walk->looking)
		return;
	const struct post_path_step step = {
		.kind = kind,
		.thread = walker->thread,
		.code = kind == POST_PATH_GAP ? NULL : walker->at.code,
		.block = walker->at.block,
		.depth = (uint32_t)walker->count,
	};

	if (open || walk->held_count)
		post_walk_hold(walk, &step, open);
	else
		post_walk_hand_on(walk, &step);
}

void post_walk_give(struct post_walk *walk, struct post_walker *walker, enum post_path_kind kind)
{
	give(walk, walker, kind);
}

void post_walk_push(struct post_walker *walker, struct post_walk_place back)
{
	struct post_walk_frame *frame;

	POST_GROW(walker->frames, walker->count, walker->capacity);
	frame = &walker->frames[walker->count++];
	*frame = (struct post_walk_frame){.back = back,
					  .interrupt = walker->stops,
					  .last = walker->last,
					  .stops = walker->stops ? walker->stops - 1 : 0,
					  .begun = walker->begun,
					  .outer = walker->outer,
					  .registers = walker->stops ? walker->registers : 0};
	walker->stops = 0;
	walker->begun = POST_NONE;
}

/* Something that was not called has come at the place of the thread. */
static void push_between(struct post_walk *walk, struct post_walker *walker)
{
	post_walk_push(walker, walker->at);
	walker->frames[walker->count - 1].between = true;
	post_walk_begin_between(walk, walker, &walker->frames[walker->count - 1]);
}

void post_walk_begin_anew(struct post_walk *walk, struct post_walker *walker)
{
	walker->count = 0;
	post_walk_forget(walk, walker);
	walker->at.state = POST_WALK_NOWHERE;
	walker->rootless = true;
	walker->returned = walker->amid = false;
	walk->totals->gaps++;
	post_walk_give(walk, walker, POST_PATH_GAP);
}

/* Control comes to block number `block` of the same module; `behind` what records that. */
EACH_BIT void go(struct post_walker *walker, uint32_t block, bool behind)
{
	walker->at.behind = behind;
	/* code that is not followed; its callers have a bit behind the call */
	if (block == POST_NONE) {
		walker->at.state = POST_WALK_JUMP;
		return;
	}
	walker->at.block = block;
	walker->at.state = POST_WALK_ENTRY;
}

void post_walk_leave(struct post_walker *walker)
{
	const struct post_walk_frame *frame;

	if (!walker->count) {
		walker->at.state = POST_WALK_NOWHERE;
		walker->returned = walker->rootless;
		return;
	}
	frame = &walker->frames[--walker->count];
	walker->at = frame->back;
	if (frame->interrupt && frame->back.state == POST_WALK_NOWHERE)
		walker->returned = walker->amid;
	walker->switching = frame->switches;
	walker->next_task = frame->task;
	walker->stops = frame->stops;
	walker->registers = frame->outer;
	walker->outer = 0;
	if (frame->registers)
		walker->handled = frame->registers;
	walker->begun = frame->begun;
	if (frame->between) {
		walker->last = frame->last;
		post_walk_end_between(walker, frame);
	}
	if (frame->between && !frame->interrupt)
		walker->at.calls = true;
	walker->left = frame->between;
	if (frame->named && walker->at.state == POST_WALK_CALL)
		walker->at.state = POST_WALK_ENTRY;
}

EACH_BIT void end_block(struct post_walker *walker)
{
	const struct post_path_block *block = post_walk_block(&walker->at);
	const bool behind = block->block.flags & LITIFUT_BLOCK_LEADS_BEHIND;

	switch (block->block.ends) {
	case LITIFUT_ENDS_ON:
		go(walker, block->next, false);
		break;
	case LITIFUT_ENDS_BRANCH:
		go(walker, block->target, behind);
		break;
	case LITIFUT_ENDS_CALL: {
		struct post_walk_place back = walker->at;

		/* a function that never returns may have nothing behind its call */
		back.state = block->next == POST_NONE ? POST_WALK_JUMP : POST_WALK_ENTRY;
		back.block = block->next == POST_NONE ? back.block : block->next;
		back.behind = false;
		if (block->target != POST_NONE) {
			post_walk_push(walker, back);
			go(walker, block->target, behind);
		} else {
			walker->at = back;
			if (back.state == POST_WALK_ENTRY && !post_walk_block(&back)->block.entered)
				walker->at.state = POST_WALK_CALL;
		}
		break;
	}
	case LITIFUT_ENDS_RETURN: {
		bool named;

		/* and so does a function that has ended with a call of it by its name */
		do {
			named = walker->count && walker->frames[walker->count - 1].named;
			post_walk_leave(walker);
		} while (named && walker->at.state == POST_WALK_JUMP);
		break;
	}
	case LITIFUT_ENDS_JUMP:
		walker->at.state = block->block.flags & (LITIFUT_BLOCK_RECORDS_JUMP |
							 LITIFUT_BLOCK_JUMPS_WITHIN)
					   ? POST_WALK_RECORDED
					   : POST_WALK_JUMP;
		break;
	default:
		walker->at.state = POST_WALK_NOWHERE;
		break;
	}
}

void post_walk_end_block(struct post_walker *walker)
{
	end_block(walker);
}

EACH_BIT void execute(struct post_walk *walk, struct post_walker *walker)
{
	const struct post_path_block *block = post_walk_block(&walker->at);

	if (walker->begun != walker->at.block)
		give(walk, walker, POST_PATH_BLOCK);
	walker->entered = false;
	walker->begun = POST_NONE;
	walker->at.calls = false;
	walker->left = false;
	walker->last = walker->at.block;
	if (block->block.flags & LITIFUT_BLOCK_CONDITIONAL)
		walker->at.state = POST_WALK_BRANCH;
	else
		end_block(walker);
}

void post_walk_execute(struct post_walk *walk, struct post_walker *walker)
{
	execute(walk, walker);
}

/* So far as the code alone says, up to where an interrupt returns to. Blocks without a decision in
 * a circle are a program that waits for a signal: it stays in one of them. */
EACH_BIT void advance(struct post_walk *walk, struct post_walker *walker)
{
	struct post_walk_circle circle = {0};
	size_t steps = 0;

	while (walker->at.state == POST_WALK_ENTRY && !walker->switching && !walker->stops) {
		if ((post_walk_block(&walker->at)->block.entered && !walker->at.behind) ||
		    (steps++ > walker->at.code->count && post_walk_is_in_circle(&circle, walker)))
			return;
		execute(walk, walker);
	}
}

void post_walk_advance(struct post_walk *walk, struct post_walker *walker)
{
	advance(walk, walker);
}

struct post_walker *post_walk_thread(struct post_walk *walk, uint32_t thread)
{
	for (size_t i = walk->count; i-- > 0;)
		if (walk->walkers[i].thread == thread)
			return &walk->walkers[i];
	POST_GROW(walk->walkers, walk->count, walk->capacity);
	walk->walkers[walk->count] = (struct post_walker){.thread = thread,
							  .lost = walk->within,
							  .unknown = walk->within,
							  .begun = POST_NONE};
	return &walk->walkers[walk->count++];
}

/* The task with this stack pointer. A new one becomes a separate thread. */
struct post_walker *post_walk_task(struct post_walk *walk, struct post_walker *walker,
				   uint32_t stack)
{
	struct post_walker *task;

	if (walker->is_task && walker->stack == stack)
		return walker;
	for (size_t i = walk->count; i-- > walk->first;)
		if (walk->walkers[i].is_task && walk->walkers[i].stack == stack)
			return &walk->walkers[i];
	task = post_walk_thread(walk, (uint32_t)walk->count + 1);
	task->is_task = true;
	task->stack = stack;
	return task;
}

/* The same as post_walk_advance(), up to where the next bit or record belongs. */
struct post_walker *post_walk_settle(struct post_walk *walk, struct post_walker *walker)
{
	advance(walk, walker);
	while (walker->switching) {
		post_walk_prove(walk, walker);
		walker->switching = false;
		walker = post_walk_task(walk, walker, walker->next_task);
		advance(walk, walker);
	}
	return walker;
}

EACH_BIT void take_bit(struct post_walk *walk, struct post_walker *walker, unsigned bit)
{
	const struct post_path_block *block =
		walker->at.state == POST_WALK_NOWHERE ? NULL : post_walk_block(&walker->at);

	switch (walker->at.state) {
	case POST_WALK_BRANCH:
		/* the bit is stored before the branch: where it returns to is on the stack */
		if (bit && block->block.ends == LITIFUT_ENDS_RETURN)
			post_walk_prove(walk, walker);
		else
			post_walk_prove_entry(walk, walker);
		give(walk, walker, bit ? POST_PATH_TAKEN : POST_PATH_PASSED);
		if (bit)
			end_block(walker);
		else
			go(walker, block->next, false);
		break;
	case POST_WALK_ENTRY:
		if (block->block.entered == LITIFUT_ENTERED_BIT && bit) {
			post_walk_prove_entry(walk, walker);
			execute(walk, walker);
			break;
		}
		post_walk_disagree(
			walk, walker,
			block->block.entered == LITIFUT_ENTERED_BIT
				? "a bit is 0 where a call has returned"
				: "there is a bit in place of the record that a block is entered");
		post_walk_begin_anew(walk, walker);
		walk->totals->bits_unused++;
		return;
	default:
		walk->totals->bits_unused++;
		if (!walker->lost)
			post_walk_begin_anew(walk, walker);
		walker->lost = true;
		return;
	}
}

/* Does the block record that control comes to a label before it as well, which has no room to do
 * that itself? Returns how many blocks before it that is; 0: it does not. */
static uint32_t records_label(const struct post_path_code *code, uint32_t number)
{
	for (uint32_t label = number; label && number - label < LITIFUT_LATER_MOST; label--) {
		const struct litifut_block *block = &code->blocks[label].block;
		const struct litifut_block *before = &code->blocks[label - 1].block;

		if (block->flags & (LITIFUT_BLOCK_LABEL | LITIFUT_BLOCK_FUNCTION) ||
		    before->entered || before->flags & LITIFUT_BLOCK_LEFT ||
		    before->ends != LITIFUT_ENDS_ON || before->end != block->start ||
		    code->blocks[label - 1].function != code->blocks[number].function)
			return 0;
		if (before->flags & LITIFUT_BLOCK_LABEL)
			return number - (label - 1);
	}
	return 0;
}

/* Code that is not followed enters the function. How many of the innermost calls have ended before,
 * in other such code, which records nothing when it returns? They have if the same code has called
 * before, or if they are of that function: else one would be inside the other, and again with each
 * call. If neither is known, the function is taken for what the innermost one has ended in. */
static size_t ended_unseen(struct post_walker *walker, const struct post_path_code *code,
			   uint32_t function)
{
	const struct post_walk_place *place = &walker->at;
	size_t ended = 0;

	for (size_t inner = 0; place->state == POST_WALK_JUMP; inner++) {
		const struct post_walk_frame *frame = NULL;
		const bool same = post_walk_is_of_function(place, code, function);

		if (inner < walker->count)
			frame = &walker->frames[walker->count - 1 - inner];
		/* else its caller records that it has returned, or it waits for a call */
		if ((frame && (!frame->between || frame->interrupt)) ||
		    post_walk_block(place)->block.ends == LITIFUT_ENDS_CALL ||
		    (post_walk_block(place)->pointer && !place->calls && !same))
			break;
		walker->outside |= !frame && same;
		if (same || (frame ? frame->back.calls : walker->outside))
			ended = inner + 1;
		if (!frame)
			break;
		place = &frame->back;
	}
	return ended;
}

/* The block is executed, which has recorded that; before it as many others as there are from the
 * label on. */
static void arrive(struct post_walk *walk, struct post_walker *walker,
		   const struct post_path_code *code, uint32_t number, uint32_t by_label)
{
	for (; by_label; by_label--) {
		walker->at = post_walk_start_of(code, number - by_label);
		post_walk_execute(walk, walker);
		post_walk_prove_entry(walk, walker);
	}
	walker->at = post_walk_start_of(code, number);
	post_walk_execute(walk, walker);
}

void post_walk_take_record(struct post_walk *walk, struct post_walker *walker,
			   const struct post_path_code *code, uint32_t number)
{
	const struct litifut_block *block = &code->blocks[number].block;
	const bool interrupts = walker->stops;
	uint32_t by_label = records_label(code, number);

	if (interrupts) {
		/* the first record of an interrupt handler */
		push_between(walk, walker);
		walker->at.state = POST_WALK_NOWHERE;
	}
	post_walk_advance(walk, walker);
	/* else it may be called by code that is not followed, again and again */
	if (walker->at.state == POST_WALK_NOWHERE && walker->returned && !interrupts &&
	    (code->cpu->interrupts_exactly || walker->amid))
		post_walk_begin_anew(walk, walker);
	/* then it is not a callback */
	if (!(walker->at.state == POST_WALK_JUMP &&
	      post_walk_is_switch_to(&walker->at, code, number)) &&
	    post_walk_returns_unseen(walker)) {
		const struct post_walk_ahead ahead = post_walk_ahead(walker, code, number);
		const bool leads_to =
			ahead.leads_to || (ahead.jumps_to && walker->at.state == POST_WALK_CALL &&
					   !post_walk_lands_at(&walker->at, code, block->start));

		if (leads_to || (ahead.pointer && block->flags & LITIFUT_BLOCK_FUNCTION &&
				 post_walk_is_answered(walker)))
			post_walk_pass(walk, walker, leads_to);
		else if (block->flags & LITIFUT_BLOCK_FUNCTION
				 ? ahead.named && !walker->at.calls &&
					   !post_walk_leads_by_name(&walker->at, code, number)
				 : ahead.throws && post_walk_throws_later(walker, code, number))
			post_walk_pass_by_name(walk, walker, code,
					       block->flags & LITIFUT_BLOCK_FUNCTION ? number
										     : POST_NONE);
	}
	if (block->flags & LITIFUT_BLOCK_FUNCTION) {
		uint32_t begun;

		while (post_walk_has_gone_on(walker, code, number)) {
			post_walk_leave(walker);
			post_walk_advance(walk, walker);
		}
		begun = walker->begun;
		for (size_t ended = ended_unseen(walker, code, number); ended; ended--)
			post_walk_leave(walker);
		post_walk_advance(walk, walker); /* behind a call by name */
		walker->begun = begun;
	}
	if (walker->at.state == POST_WALK_ENTRY && walker->at.code == code &&
	    walker->at.block == number) {
		by_label = 0; /* it is the one */
	} else if ((walker->at.state == POST_WALK_JUMP || walker->at.state == POST_WALK_RECORDED) &&
		   post_walk_block(&walker->at)->block.ends != LITIFUT_ENDS_CALL &&
		   post_walk_is_in_function(&walker->at, code, number) &&
		   !(block->flags & LITIFUT_BLOCK_FUNCTION)) {
		/* a case of a switch */
	} else if (block->flags & LITIFUT_BLOCK_FUNCTION) {
		/* a tail call has no place to come back to, and its callers have a bit behind */
		const bool begun = walker->begun == number;

		if (begun)
			walker->begun = POST_NONE;
		if (walker->at.state != POST_WALK_NOWHERE) {
			push_between(walk, walker);
			walker->frames[walker->count - 1].named = post_walk_leads_by_name(
				&walker->frames[walker->count - 1].back, code, number);
		}
		if (begun)
			walker->begun = number;
	} else if (!post_walk_unwind_to(walk, walker, code, number, number - by_label)) {
		post_walk_begin_anew(walk, walker);
		by_label = 0; /* that is not known */
	}
	walker->lost = false;
	post_walk_prove_entry(walk, walker);
	arrive(walk, walker, code, number, by_label);
}

bool post_walk_is_jump(const struct post_path_code *code, uint32_t link, uint32_t *number)
{
	*number = code && code->image ? post_image_block_start(code->image, link) : POST_NONE;
	return *number != POST_NONE;
}

bool post_walk_may_jump(const struct post_walker *walker, const struct post_path_code *code,
			uint32_t number)
{
	return walker->at.state == POST_WALK_RECORDED &&
	       post_walk_is_of_function(&walker->at, code, number);
}

void post_walk_take_jump(struct post_walk *walk, struct post_walker *walker,
			 const struct post_path_code *code, uint32_t number)
{
	post_walk_advance(walk, walker);
	if (!post_walk_may_jump(walker, code, number)) {
		if (walker->at.state != POST_WALK_NOWHERE)
			post_walk_disagree(walk, walker, "a jump is recorded where there is none");
		post_walk_begin_anew(walk, walker);
	}
	walker->lost = false;
	post_walk_prove_entry(walk, walker);
	walker->at = post_walk_start_of(code, number);
	/* else it is a label as well, which makes a record */
	if (!post_walk_block(&walker->at)->block.entered)
		post_walk_execute(walk, walker);
}

/* How many bits the number has that the thread records next; 0: it does not. */
EACH_BIT unsigned number_bits(const struct post_walker *walker)
{
	const struct post_walk_place *at = &walker->at;
	const bool is_number =
		at->state == POST_WALK_RECORDED
			? post_walk_block(at)->block.flags & LITIFUT_BLOCK_JUMPS_WITHIN
			: at->state == POST_WALK_ENTRY && !at->behind &&
				  LITIFUT_ENTERED_KIND(post_walk_block(at)->block.entered) ==
					  LITIFUT_ENTERED_NUMBER;

	return is_number ? at->code->blocks[post_walk_block(at)->function].number_bits : 0;
}

static void take_number(struct post_walk *walk, struct post_walker *walker, uint32_t number)
{
	const struct post_path_code *code = walker->at.code;
	const struct post_path_block *function =
		&code->blocks[post_walk_block(&walker->at)->function];
	const uint32_t block = code->numbered[function->numbers + number];

	if (walker->at.state == POST_WALK_RECORDED ? block == POST_NONE
						   : block != walker->at.block) {
		post_walk_disagree(walk, walker, "the number is not that of a label there");
		post_walk_begin_anew(walk, walker);
		return;
	}
	post_walk_prove_entry(walk, walker);
	arrive(walk, walker, code, block,
	       walker->at.state == POST_WALK_RECORDED ? records_label(code, block) : 0);
}

/* The next of `count' bits are its number. Returns how many they are. */
static unsigned take_number_of(struct post_walk *walk, struct post_walker *walker, uint32_t word,
			       unsigned count, unsigned bits)
{
	if (bits > count) {
		post_walk_disagree(walk, walker, "a label's number has too few bits");
		post_walk_begin_anew(walk, walker);
		walk->totals->bits_unused += count;
		return count;
	}
	walk->totals->bits -= bits;
	take_number(walk, walker, word >> (count - bits) & ((1u << bits) - 1));
	return bits;
}

struct post_walker *post_walk_take_bits(struct post_walk *walk, struct post_walker *walker,
					uint32_t word)
{
	unsigned count = 31;

	while (!(word >> count))
		count--;
	walk->totals->bits += count;
	while (count) {
		unsigned bits;

		walker->stops = 0;
		advance(walk, walker);
		if (walker->switching)
			walker = post_walk_settle(walk, walker);
		if (walker->at.state != POST_WALK_BRANCH) {
			post_walk_come_back(walk, walker);
			bits = number_bits(walker);
			if (bits) {
				count -= take_number_of(walk, walker, word, count, bits);
				continue;
			}
		}
		take_bit(walk, walker, word >> --count & 1);
	}
	return walker;
}
