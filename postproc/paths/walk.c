/* A thread is always at a place where only the trace can tell how it goes on: a conditional branch,
 * a block that records that control comes to it, a jump to where a register says, or a call of code
 * that is not followed. The next bit or record takes it from there to the next such place.
 *
 * A record that is for another block is that of a function which something else has called: code
 * that is not followed (a callback), or the kernel (a signal handler). It has a stack of its own on
 * top, and when it returns the thread is where it was. Or it is where longjmp() or an exception
 * leads: then a function of that block is among those that have been called.
 *
 * A kernel on a microcontroller changes the task in an interrupt handler: records say from which
 * stack pointer the tasks are, and the return of that handler leads to where the other task was.
 *
 * More than 500 lines in one file, as all of it changes the one state of a thread. */
#include "postproc/paths/walk.h"

#include <stdlib.h>
#include <string.h>

#include "cpu/cpu.h"

enum state {
	STATE_NOWHERE, /* not known, or no function is entered: a record tells */
	STATE_ENTRY,   /* `block` records that control comes to it, and that has not been read */
	STATE_BRANCH,  /* at the conditional branch of `block` */
	STATE_JUMP,    /* behind the jump of `block`, or in code that its function ends in */
	STATE_CALL     /* in code that was called, which goes back to `block` */
};

struct place {
	const struct post_path_code *code;
	uint32_t block;
	enum state state;
};

struct frame {
	struct place back;
	bool between;   /* no call was made: a callback or a signal handler came at that place */
	bool interrupt; /* it was an interrupt, as a record has said */
	bool switches;  /* and when it returns, another task goes on: */
	uint32_t task;
	uint32_t last; /* of code that was interrupted, these four as in struct walker */
	unsigned stops;
	uint32_t begun;
	uint32_t outer;
	uint32_t registers; /* of an interrupt: where its registers are on the stack */
};

struct walker {
	uint32_t thread;
	struct place at;
	struct frame *frames;
	size_t count, capacity;
	uint32_t epoch;
	bool lost;    /* bits were left out, and a gap is told */
	bool unknown; /* the walk began later, and no word has shown its place yet */
	/* Of a task: its stack pointer when it was interrupted the last time, if that is known. */
	bool is_task;
	uint32_t stack;
	uint32_t last; /* the block that was executed last, in the code of `at` */
	/* So many interrupts have come where it is, and it is known that it has not gone on. */
	unsigned stops;
	uint32_t registers; /* where those of the newest one of them are on the stack, */
	uint32_t outer;     /* and of the one before it; 0: not known */
	bool left;      /* what had come between, an interrupt or a callback, has just returned */
	uint32_t begun; /* the block that has been given already; its bit or record follows */
	bool switching; /* the task `next_task` goes on now */
	uint32_t next_task;
};

/* What all threads of a process share. */
struct walk {
	struct post_session *session;
	const struct post_process *process;
	struct post_path_codes *codes;
	void (*take)(void *context, const struct post_path_step *step);
	void *context;
	struct post_path_totals *totals;
	struct walker *walkers;
	size_t count, capacity;
	bool within;     /* chunks before the first one are left out */
	size_t first;    /* of those that have not ended by a restart */
	uint64_t offset; /* of the word that is read */
	unsigned told;
};

#define PROBLEMS_TOLD 20

static void disagree(struct walk *walk, const struct walker *walker, const char *message)
{
	if (walk->told++ < PROBLEMS_TOLD)
		post_problem_at(walk->session->problems, walk->process->trace->path, walk->offset,
				"thread %u: %s; what follows is left out up to the next record "
				"that has its address",
				walker->thread, message);
}

static void give(struct walk *walk, const struct walker *walker, enum post_path_kind kind)
{
	const struct post_path_step step = {
		.kind = kind,
		.thread = walker->thread,
		.code = kind == POST_PATH_GAP ? NULL : walker->at.code,
		.block = walker->at.block,
		.depth = (uint32_t)walker->count,
	};

	if (kind == POST_PATH_BLOCK)
		walk->totals->blocks++;
	walk->take(walk->context, &step);
}

static const struct post_path_block *block_of(const struct place *place)
{
	return &place->code->blocks[place->block];
}

static void push(struct walker *walker, bool between, struct place back)
{
	POST_GROW(walker->frames, walker->count, walker->capacity);
	walker->frames[walker->count++] =
		(struct frame){.back = back,
			       .between = between,
			       .interrupt = walker->stops != 0,
			       .last = walker->last,
			       .stops = walker->stops ? walker->stops - 1 : 0,
			       .begun = walker->begun,
			       .outer = walker->outer,
			       .registers = walker->stops ? walker->registers : 0};
	walker->stops = 0;
	walker->begun = POST_NONE;
}

static void begin_anew(struct walk *walk, struct walker *walker)
{
	walker->count = 0;
	walker->at.state = STATE_NOWHERE;
	walk->totals->gaps++;
	give(walk, walker, POST_PATH_GAP);
}

/* Control comes to block number `block` of the same module. */
static void go(struct walker *walker, uint32_t block)
{
	walker->at.block = block;
	/* code that is not followed; its callers have a bit behind the call */
	if (block == POST_NONE) {
		walker->at.block = 0;
		walker->at.state = STATE_JUMP;
		return;
	}
	walker->at.state = STATE_ENTRY;
}

static void leave(struct walker *walker)
{
	const struct frame *frame;

	if (!walker->count) {
		walker->at.state = STATE_NOWHERE;
		return;
	}
	frame = &walker->frames[--walker->count];
	walker->at = frame->back;
	walker->switching = frame->switches;
	walker->next_task = frame->task;
	walker->stops = frame->stops;
	walker->registers = frame->outer;
	walker->outer = 0;
	walker->begun = frame->begun;
	if (frame->between)
		walker->last = frame->last;
	walker->left = frame->between;
}

/* The end of the block: taken, or what it does without a condition. */
static void end_block(struct walker *walker)
{
	const struct post_path_block *block = block_of(&walker->at);

	switch (block->block.ends) {
	case LITIFUT_ENDS_ON:
		go(walker, block->next);
		break;
	case LITIFUT_ENDS_BRANCH:
		go(walker, block->target);
		break;
	case LITIFUT_ENDS_CALL: {
		struct place back = walker->at;

		/* a function that never returns may have nothing behind its call */
		back.state = block->next == POST_NONE ? STATE_JUMP : STATE_ENTRY;
		back.block = block->next == POST_NONE ? back.block : block->next;
		if (block->target != POST_NONE) {
			push(walker, false, back);
			go(walker, block->target);
		} else {
			walker->at = back;
			if (back.state == STATE_ENTRY && !block_of(&back)->block.entered)
				walker->at.state = STATE_CALL;
		}
		break;
	}
	case LITIFUT_ENDS_RETURN:
		leave(walker);
		break;
	case LITIFUT_ENDS_JUMP:
		walker->at.state = STATE_JUMP;
		break;
	default:
		walker->at.state = STATE_NOWHERE;
		break;
	}
}

/* The block is executed; up to its branch, if that is recorded. */
static void execute(struct walk *walk, struct walker *walker)
{
	const struct post_path_block *block = block_of(&walker->at);

	if (walker->begun != walker->at.block)
		give(walk, walker, POST_PATH_BLOCK);
	walker->begun = POST_NONE;
	walker->left = false;
	walker->last = walker->at.block;
	if (block->block.flags & LITIFUT_BLOCK_CONDITIONAL)
		walker->at.state = STATE_BRANCH;
	else
		end_block(walker);
}

/* So far as the code alone says, up to where an interrupt returns to. Blocks without a decision in
 * a circle are a program that waits for a signal, so a bound is needed. */
static void advance(struct walk *walk, struct walker *walker)
{
	size_t steps = 0;

	while (walker->at.state == STATE_ENTRY && !block_of(&walker->at)->block.entered &&
	       !walker->switching && !walker->stops && steps++ <= walker->at.code->count)
		execute(walk, walker);
}

static struct walker *walker_of(struct walk *walk, uint32_t thread)
{
	for (size_t i = walk->count; i-- > 0;)
		if (walk->walkers[i].thread == thread)
			return &walk->walkers[i];
	POST_GROW(walk->walkers, walk->count, walk->capacity);
	walk->walkers[walk->count] = (struct walker){.thread = thread,
						     .lost = walk->within,
						     .unknown = walk->within,
						     .begun = POST_NONE};
	return &walk->walkers[walk->count++];
}

/* The task with this stack pointer. A new one becomes a separate thread. */
static struct walker *task_of(struct walk *walk, struct walker *walker, uint32_t stack)
{
	struct walker *task;

	if (walker->is_task && walker->stack == stack)
		return walker;
	for (size_t i = walk->count; i-- > walk->first;)
		if (walk->walkers[i].is_task && walk->walkers[i].stack == stack)
			return &walk->walkers[i];
	task = walker_of(walk, (uint32_t)walk->count + 1);
	task->is_task = true;
	task->stack = stack;
	return task;
}

/* The same as advance(), up to where the next bit or record belongs. */
static struct walker *settle(struct walk *walk, struct walker *walker)
{
	advance(walk, walker);
	while (walker->switching) {
		walker->switching = false;
		walker = task_of(walk, walker, walker->next_task);
		advance(walk, walker);
	}
	return walker;
}

static void take_bit(struct walk *walk, struct walker *walker, unsigned bit)
{
	const struct post_path_block *block;

	advance(walk, walker);
	/* it has returned, and what it has called is told */
	for (size_t steps = 0; walker->at.state == STATE_CALL || walker->at.state == STATE_JUMP;
	     steps++) {
		if (walker->at.state == STATE_CALL)
			walker->at.state = STATE_ENTRY;
		else
			leave(walker);
		advance(walk, walker);
	}
	block = walker->at.state == STATE_NOWHERE ? NULL : block_of(&walker->at);
	switch (walker->at.state) {
	case STATE_BRANCH:
		give(walk, walker, bit ? POST_PATH_TAKEN : POST_PATH_PASSED);
		if (bit)
			end_block(walker);
		else
			go(walker, block->next);
		break;
	case STATE_ENTRY:
		if (block->block.entered == LITIFUT_ENTERED_BIT && bit) {
			execute(walk, walker);
			break;
		}
		disagree(walk, walker,
			 block->block.entered == LITIFUT_ENTERED_BIT
				 ? "a bit is 0 where a call has returned"
				 : "there is a bit in place of the record that a block is entered");
		begin_anew(walk, walker);
		walk->totals->bits_unused++;
		return;
	default:
		walk->totals->bits_unused++;
		if (!walker->lost)
			begin_anew(walk, walker);
		walker->lost = true;
		return;
	}
}

/* Is the block in the function that the place is in? */
static bool is_in_function(const struct place *place, const struct post_path_code *code,
			   uint32_t block)
{
	return place->state != STATE_NOWHERE && place->code == code &&
	       code->blocks[place->block].function == code->blocks[block].function;
}

/* Ends calls until one of the function of the block is the innermost. False: there is none. */
static bool unwind_to(struct walker *walker, const struct post_path_code *code, uint32_t block)
{
	size_t count = walker->count;

	if (is_in_function(&walker->at, code, block))
		return true;
	while (count && !is_in_function(&walker->frames[count - 1].back, code, block))
		count--;
	if (!count)
		return false;
	walker->count = count - 1;
	return true;
}

#define AHEAD_MOST 64 /* blocks */

/* How many functions on top of the stack end in code that is not followed, so that nothing is
 * recorded when they return. A callback or a handler that does goes back to code that is not
 * followed either, or to the block that it came before. */
static size_t ends_unseen(const struct walker *walker)
{
	const struct place *place = &walker->at;
	size_t ends = 0;

	while (place->state == STATE_JUMP && ends < walker->count) {
		const struct frame *frame = &walker->frames[walker->count - ++ends];

		place = &frame->back;
		if (!frame->between &&
		    (place->state != STATE_ENTRY || block_of(place)->block.entered))
			return 0;
	}
	return place->state == STATE_CALL || place->state == STATE_ENTRY ? ends : 0;
}

/* In code that is not followed, which records nothing when it returns? */
static bool returns_unseen(const struct walker *walker)
{
	return walker->at.state == STATE_CALL || ends_unseen(walker);
}

static void leave_unseen(struct walker *walker)
{
	for (size_t ends = ends_unseen(walker); ends; ends--)
		leave(walker);
}

/* What lies ahead, before anything else can be recorded. */
struct ahead {
	bool leads_to; /* the start of the block, which is recorded */
	bool passes;   /* the block is among those on the way */
	bool may_call; /* so is a call or a jump that may lead to any function */
};

/* From there, and if that is in code that is not followed, when it returns. */
static struct ahead look_ahead(const struct walker *walker, const struct post_path_code *code,
			       uint32_t number)
{
	struct walker ahead = *walker;
	struct frame frames[AHEAD_MOST];
	struct ahead seen = {0};
	size_t own = 0; /* of them */

	leave_unseen(&ahead);
	for (unsigned steps = 0; steps < AHEAD_MOST; steps++) {
		const struct post_path_block *block;
		size_t before;

		if (ahead.at.state == STATE_CALL)
			ahead.at.state = STATE_ENTRY;
		if (ahead.at.state != STATE_ENTRY)
			break;
		block = block_of(&ahead.at);
		if (block->block.entered) {
			seen.leads_to = ahead.at.code == code && ahead.at.block == number;
			break;
		}
		seen.passes |= ahead.at.code == code && ahead.at.block == number;
		if (block->block.flags & LITIFUT_BLOCK_CONDITIONAL)
			break;
		seen.may_call |=
			block->block.ends == LITIFUT_ENDS_JUMP ||
			(block->block.ends == LITIFUT_ENDS_CALL && block->target == POST_NONE);
		if (block->block.ends == LITIFUT_ENDS_RETURN && own) {
			ahead.at = frames[--own].back;
			continue;
		}
		/* calls are pushed to a stack of this function's own */
		before = ahead.count;
		ahead.frames = frames;
		ahead.count = own;
		ahead.capacity = AHEAD_MOST + 1;
		if (block->block.ends == LITIFUT_ENDS_RETURN) {
			ahead.frames = walker->frames;
			ahead.count = before;
			leave(&ahead);
			continue;
		}
		end_block(&ahead);
		own = ahead.count;
		ahead.count = before;
	}
	return seen;
}

static void take_record(struct walk *walk, struct walker *walker, const struct post_path_code *code,
			uint32_t number)
{
	const struct litifut_block *block = &code->blocks[number].block;

	if (walker->stops) {
		/* the first record of an interrupt handler */
		push(walker, true, walker->at);
		walker->at.state = STATE_NOWHERE;
	}
	advance(walk, walker);
	/* then it is not a callback */
	if (returns_unseen(walker) && look_ahead(walker, code, number).leads_to) {
		leave_unseen(walker);
		advance(walk, walker);
		while (walker->at.state == STATE_CALL) {
			walker->at.state = STATE_ENTRY;
			advance(walk, walker);
		}
	}
	if (walker->at.state == STATE_ENTRY && walker->at.code == code &&
	    walker->at.block == number) {
		/* it is the one */
	} else if (walker->at.state == STATE_JUMP && is_in_function(&walker->at, code, number) &&
		   !(block->flags & LITIFUT_BLOCK_FUNCTION)) {
		/* a case of a switch */
	} else if (block->flags & LITIFUT_BLOCK_FUNCTION) {
		/* a tail call has no place to come back to, and its callers have a bit behind */
		const bool begun = walker->begun == number;

		if (begun)
			walker->begun = POST_NONE;
		if (walker->at.state != STATE_NOWHERE)
			push(walker, true, walker->at);
		if (begun)
			walker->begun = number;
	} else if (!unwind_to(walker, code, number)) {
		begin_anew(walk, walker);
	}
	walker->at = (struct place){code, number, STATE_ENTRY};
	walker->lost = false;
	execute(walk, walker);
}

/* The edge whose code has the run-time address; *code is its module's, *link the same address as
 * it was linked. */
static const struct post_path_edge *find_edge(struct walk *walk, const struct walker *walker,
					      uint32_t address, const struct post_path_code **code,
					      uint32_t *link)
{
	uint32_t module;

	if (!post_session_place(walk->process, walker->epoch, address, &module, link))
		return NULL;
	*link &= ~1u;
	*code = post_path_code(walk->codes, walk->session, module);
	return post_path_edge(*code, *link);
}

static struct walker *take_address(struct walk *walk, struct walker *walker, uint32_t address)
{
	const struct post_path_code *code;
	uint32_t link;
	const struct post_path_edge *edge = find_edge(walk, walker, address, &code, &link);

	walk->totals->records++;
	if (!edge || code->blocks[edge->block].block.entered != LITIFUT_ENTERED_RECORD) {
		disagree(walk, walker, "a record is not of the start of a block");
		begin_anew(walk, walker);
		return walker;
	}
	walker = settle(walk, walker);
	take_record(walk, walker, code, edge->block);
	return walker;
}

/* The code behind a call that was made from one of the words of a stack, which may be a return
 * address. It may be in a function that is not followed. */
static bool is_behind_call(struct walk *walk, const struct walker *walker, uint32_t word,
			   struct place *place)
{
	uint32_t module, link;
	const struct post_path_code *code;

	if (!post_session_place(walk->process, walker->epoch, word & ~1u, &module, &link))
		return false;
	code = post_path_code(walk->codes, walk->session, module);
	const struct post_image *image = walk->session->modules[module].image;
	const uint32_t number = image ? post_image_block_start(image, link) : POST_NONE;

	if (!number || number == POST_NONE)
		return false;
	const struct litifut_block *block = &code->blocks[number].block;
	const struct litifut_block *before = &code->blocks[number - 1].block;

	*place = (struct place){code, number, STATE_ENTRY};
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

		if (next != POST_NONE && code->blocks[next].function != function &&
		    may_end_in(code, code->blocks[next].function, to, most - 1))
			return true;
	}
	return false;
}

/* May the call before `back` have led to the function of `callee`? */
static bool may_call(const struct place *back, const struct place *callee)
{
	const struct post_path_block *call = &back->code->blocks[back->block - 1];

	/* code that is not followed calls functions that record it */
	if (call->target == POST_NONE)
		return callee->code->blocks[block_of(callee)->function].block.entered ==
		       LITIFUT_ENTERED_RECORD;
	return back->code == callee->code &&
	       may_end_in(back->code, back->code->blocks[call->target].function,
			  block_of(callee)->function, TAIL_CALLS_MOST);
}

static bool is_left(const struct place *place)
{
	return block_of(place)->block.flags & LITIFUT_BLOCK_LEFT;
}

#define CALLS_MOST 128

/* The calls that are open, the innermost first, from the place that each function has for its
 * return address. The calls that are outside one whose frame is not known are left out. */
static size_t follow_frames(struct walk *walk, const struct walker *walker, uint32_t stack,
			    const uint32_t *words, uint32_t count, struct place *found)
{
	const struct post_path_frame *frames = &walker->at.code->frames[walker->at.block];
	const struct cpu_frame *frame =
		walker->at.state == STATE_BRANCH ? &frames->branch : &frames->start;
	struct place callee = walker->at, back;
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

/* Fills the stack of a thread whose calls are not known. `words` are those of LITIFUT_WORD_SYNC. */
static void find_calls(struct walk *walk, struct walker *walker, const uint32_t *words,
		       uint32_t count)
{
	struct place found[CALLS_MOST];
	size_t depth;

	if (count < 3 || !walker->at.code->frames)
		return;
	depth = follow_frames(walk, walker, words[1], words + 3, count - 3, found);
	while (depth) {
		struct place back = found[--depth];

		/* in code that is not followed, which has called the function */
		if (back.code->blocks[back.block - 1].target == POST_NONE &&
		    !block_of(&back)->block.entered)
			back.state = STATE_CALL;
		push(walker, false, back);
	}
}

/* Is the thread in the code that records the start of the block? The code of a branch at the start
 * of its block begins with that when nothing else stands there for it. */
static bool is_entering(const struct post_path_code *code, const struct post_path_edge *edge,
			uint32_t address)
{
	const struct litifut_block *block = &code->blocks[edge->block].block;
	const bool thumb = block->flags & LITIFUT_BLOCK_THUMB;

	return edge->entry ||
	       (block->entered && address - edge->address <= code->cpu->edge_call_bytes[thumb]);
}

/* The thread is in the code of an edge. */
static void take_sync(struct walk *walk, struct walker *walker, const uint32_t *words,
		      uint32_t count)
{
	const struct post_path_code *code;
	const struct post_path_edge *edge;
	enum state state;
	uint32_t link;
	bool enters;

	advance(walk, walker);
	if (count > 2)
		walker->epoch = words[2];
	edge = count ? find_edge(walk, walker, words[0], &code, &link) : NULL;
	if (!edge) {
		disagree(walk, walker, "it is at an address that is not in the list of branches");
		begin_anew(walk, walker);
		return;
	}
	enters = is_entering(code, edge, link);
	if (code->blocks[edge->block].block.entered == LITIFUT_ENTERED_RECORD && enters) {
		/* else the thread begins there, or is called by code that is not followed */
		if (walker->at.state == STATE_NOWHERE &&
		    (walker->lost || walk->process->trace->header.overwritten ||
		     !(code->blocks[edge->block].block.flags & LITIFUT_BLOCK_FUNCTION))) {
			walker->at = (struct place){code, edge->block, STATE_ENTRY};
			find_calls(walk, walker, words, count);
			walk->totals->gaps++;
			give(walk, walker, POST_PATH_GAP);
		}
		take_record(walk, walker, code, edge->block);
		return;
	}
	state = enters ? STATE_ENTRY : STATE_BRANCH;
	for (size_t steps = 0; walker->at.state == STATE_CALL || walker->at.state == STATE_JUMP;
	     steps++) {
		if (walker->at.state == STATE_CALL)
			walker->at.state = STATE_ENTRY;
		else
			leave(walker);
		advance(walk, walker);
	}
	if (walker->at.state == state && walker->at.code == code && walker->at.block == edge->block)
		return;
	if (walker->at.state != STATE_NOWHERE)
		disagree(walk, walker, "it is not where its bits lead");
	begin_anew(walk, walker);
	walker->at = (struct place){code, edge->block, state};
	walker->lost = false;
	find_calls(walk, walker, words, count);
	if (state == STATE_BRANCH)
		give(walk, walker, POST_PATH_BLOCK);
}

/* Words are missing: where tasks are is not known any more. */
static void take_loss(struct walk *walk)
{
	for (size_t i = walk->first; i < walk->count; i++) {
		walk->walkers[i].count = 0;
		walk->walkers[i].at.state = STATE_NOWHERE;
		walk->walkers[i].lost = true;
		walk->walkers[i].is_task = walk->walkers[i].switching = false;
	}
}

/* The interrupt handler that the thread is in, as far as is known; NULL: in none. Blocks are
 * followed to their end at once, so it may have been left already. */
static struct frame *handler_of(struct walker *walker)
{
	size_t at = walker->count;

	while (at && !walker->frames[at - 1].between)
		at--;
	return at && !walker->left ? &walker->frames[at - 1] : NULL;
}

/* A handler has read the stack pointer of the task that it has interrupted. */
static void take_saved(struct walker *walker, uint32_t stack)
{
	struct frame *handler = handler_of(walker);

	walker->is_task = true;
	walker->stack = stack;
	if (handler)
		handler->interrupt = true;
}

/* The handler returns to the task with this stack pointer. */
static void take_resumed(struct walker *walker, uint32_t stack)
{
	struct frame *handler = handler_of(walker);

	if (handler && handler->interrupt) {
		handler->switches = true;
		handler->task = stack;
		return;
	}
	walker->switching = true;
	walker->next_task = stack;
}

static bool may_execute(const struct walker *walker)
{
	return walker->at.state == STATE_ENTRY && !block_of(&walker->at)->block.entered &&
	       !walker->switching;
}

/* Does the thread stand in this block, or may it come there before anything else is recorded? */
static bool is_expected(const struct walker *walker, const struct post_path_code *code,
			uint32_t block)
{
	const struct post_path_block *last = &walker->at.code->blocks[walker->last];
	const struct ahead ahead = look_ahead(walker, code, block);

	return walker->last == block || ahead.leads_to || ahead.passes ||
	       (code->blocks[block].block.flags & LITIFUT_BLOCK_FUNCTION &&
		(ahead.may_call || last->block.ends == LITIFUT_ENDS_JUMP ||
		 (last->block.ends == LITIFUT_ENDS_CALL && last->target == POST_NONE)));
}

/* An interrupt has come before the instruction at the address. Of what was executed by then, the
 * last decision tells the most part, and the code behind it the rest. */
static void find_interrupted(struct walk *walk, struct walker *walker, uint32_t address)
{
	const struct post_path_code *code;
	const struct post_path_edge *edge;
	const struct post_image *image;
	uint32_t module, link, block;

	if (walker->at.state == STATE_NOWHERE ||
	    !post_session_place(walk->process, walker->epoch, address, &module, &link))
		return;
	link &= ~1u;
	code = post_path_code(walk->codes, walk->session, module);
	image = walk->session->modules[module].image;
	block = image ? post_image_block(image, link) : POST_NONE;
	if (block != POST_NONE) {
		const struct ahead ahead = look_ahead(walker, code, block);

		if (ahead.passes || ahead.leads_to)
			walker->last = POST_NONE;
		else if (!ahead.may_call)
			return;
	}
	if (block != POST_NONE && code->blocks[block].block.start == link) {
		for (size_t i = 0;
		     i < code->count && may_execute(walker) && walker->at.block != block; i++)
			execute(walk, walker);
		return;
	}
	edge = block == POST_NONE ? post_path_edge(code, link) : NULL;
	/* in other code, which is not followed: to there */
	if (edge && post_symbols_find(&image->symbols, link) !=
			    post_symbols_find(&image->symbols, edge->address))
		edge = NULL;
	/* beside the code of an edge stands what makes room for it, which is of any function */
	if (edge && !is_expected(walker, code, edge->block))
		return;
	if (edge)
		block = edge->block;
	for (size_t i = 0; i < code->count && may_execute(walker) && walker->last != block; i++)
		execute(walk, walker);
	/* control has come there, but that was not recorded yet */
	if (edge && walker->last != block && is_entering(code, edge, link) &&
	    walker->begun == POST_NONE) {
		const struct place before = walker->at;

		walker->at = (struct place){code, block, STATE_ENTRY};
		give(walk, walker, POST_PATH_BLOCK);
		walker->at = before;
		walker->begun = block;
	}
}

/* The registers of an interrupt are on the stack at `registers`, bit 0 set: it has interrupted no
 * handler. Has a handler whose own are at `before` returned by then? */
static bool has_returned(uint32_t before, uint32_t registers)
{
	return before && (registers & 1 || (!(before & 1) && before <= registers));
}

/* The handlers that have returned before the next one came, which nothing need have recorded. */
static void leave_handlers(struct walk *walk, struct walker *walker, uint32_t registers)
{
	size_t depth = 0;

	while (depth < walker->count && !has_returned(walker->frames[depth].registers, registers))
		depth++;
	if (depth == walker->count)
		return;
	for (size_t i = 0;
	     i < walker->at.code->count && may_execute(walker) && walker->count > depth; i++)
		execute(walk, walker);
	/* through code that is not followed */
	if (walker->count > depth) {
		walker->count = depth + 1;
		leave(walker);
	}
}

static struct walker *take_interrupt(struct walk *walk, struct walker *walker, uint32_t address,
				     uint32_t registers)
{
	if (!walker->stops) {
		leave_handlers(walk, walker, registers);
		while (walker->switching) {
			walker->switching = false;
			walker = task_of(walk, walker, walker->next_task);
		}
	}
	/* a handler that has interrupted another one may have been left here too early */
	if (!walker->stops && (registers & 1 || handler_of(walker)))
		find_interrupted(walk, walker, address);
	walker->outer = walker->stops ? walker->registers : 0;
	walker->registers = registers;
	walker->stops++;
	return walker;
}

/* All threads go to where the code alone leads them. */
static void finish(struct walk *walk)
{
	for (size_t i = walk->first; i < walk->count; i++)
		advance(walk, &walk->walkers[i]);
}

static struct walker *take_bits(struct walk *walk, struct walker *walker, uint32_t word)
{
	unsigned count = 31;

	while (!(word >> count))
		count--;
	walk->totals->bits += count;
	while (count) {
		walker->stops = 0;
		walker = settle(walk, walker);
		take_bit(walk, walker, word >> --count & 1);
	}
	return walker;
}

/* What a control word says, whose `words` follow it. */
static struct walker *take_control(struct walk *walk, struct walker *walker, unsigned kind,
				   const uint32_t *words, uint32_t count)
{
	if (kind == LITIFUT_WORD_SYNC) {
		walker = settle(walk, walker);
		walker->unknown = false;
		take_sync(walk, walker, words, count);
	}
	if (!count)
		return walker;
	switch (kind) {
	case LITIFUT_WORD_THREAD:
		advance(walk, walker);
		return walker_of(walk, words[0]);
	case LITIFUT_WORD_EPOCH:
		walker->epoch = words[0];
		break;
	case LITIFUT_WORD_BLOCK:
		return take_address(walk, walker, words[0]);
	case LITIFUT_WORD_LOST:
		take_loss(walk);
		break;
	case LITIFUT_WORD_RESTARTED:
		finish(walk);
		walk->first = walk->count;
		return walker_of(walk, (uint32_t)walk->count + 1);
	case LITIFUT_WORD_INTERRUPT:
		return count < 2 ? walker : take_interrupt(walk, walker, words[0], words[1]);
	case LITIFUT_WORD_TASK_SAVED:
		take_saved(walker, words[0]);
		break;
	case LITIFUT_WORD_TASK_RESUMED:
		take_resumed(walker, words[0]);
		break;
	default:
		break;
	}
	return walker;
}

static void walk_chunk(struct walk *walk, const struct post_chunk *chunk)
{
	const struct post_trace *trace = walk->process->trace;
	struct walker *walker = walker_of(walk, chunk->thread);
	uint32_t words[128];

	walker->epoch = chunk->flags >> LITIFUT_CHUNK_EPOCH_SHIFT;
	for (uint32_t i = 0; i < chunk->word_count; i++) {
		uint32_t word = post_trace_word(trace, chunk, i);
		uint32_t count;

		if (!word)
			continue;
		walk->offset = chunk->offset + (uint64_t)i * 4;
		walk->totals->words++;
		if (!(word & LITIFUT_BITS_RECORD)) {
			if (!walker->unknown)
				walker = take_bits(walk, walker, word);
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
	advance(walk, walker);
}

void post_paths_walk_from(struct post_session *session, const struct post_process *process,
			  size_t first, struct post_path_codes *codes,
			  void (*take)(void *context, const struct post_path_step *step),
			  void *context, struct post_path_totals *totals)
{
	struct walk walk = {.session = session,
			    .process = process,
			    .codes = codes,
			    .take = take,
			    .context = context,
			    .totals = totals,
			    .within = first > 0};

	for (size_t i = first; i < process->trace->bits_count; i++)
		walk_chunk(&walk, &process->trace->bits[i]);
	finish(&walk);
	if (walk.told > PROBLEMS_TOLD)
		post_problem_at(session->problems, process->trace->path, LITIFUT_NO_ADDRESS,
				"%u more places where bits and code do not agree",
				walk.told - PROBLEMS_TOLD);
	for (size_t i = 0; i < walk.count; i++)
		free(walk.walkers[i].frames);
	free(walk.walkers);
}

void post_paths_walk(struct post_session *session, const struct post_process *process,
		     struct post_path_codes *codes,
		     void (*take)(void *context, const struct post_path_step *step), void *context,
		     struct post_path_totals *totals)
{
	post_paths_walk_from(session, process, 0, codes, take, context, totals);
}
