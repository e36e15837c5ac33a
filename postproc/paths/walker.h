/* The state of a walk along what LITIFUT_MODE=paths has recorded, and what its files do to it:
 * walk.c reads the words, walker.c goes on where bits and records say so, ahead.c looks further
 * without going on, unwind.c ends calls, proof.c finds what is not proved, stack.c begins where a
 * word says what is on the stack, interrupts.c follows interrupts and tasks of a firmware. */
#ifndef LITIFUT_POSTPROC_PATHS_WALKER_H
#define LITIFUT_POSTPROC_PATHS_WALKER_H

#include "postproc/paths/steps.h"

/* So many disagreements are reported one by one. */
#define POST_WALK_REPORTED 20

/* So many steps are held at most, but for those of one word of the trace. */
#define POST_WALK_HELD_MOST 65536

enum post_walk_state {
	POST_WALK_NOWHERE, /* not known, or no function is entered: a record says which */
	POST_WALK_ENTRY,  /* `block` records that control comes to it, and that has not been read */
	POST_WALK_BRANCH, /* at the conditional branch of `block` */
	POST_WALK_JUMP,   /* behind the jump of `block`, or in code that its function ends in */
	POST_WALK_RECORDED, /* behind the jump of `block`, and where that leads has not been read */
	POST_WALK_CALL      /* in code that was called, which goes back to `block` */
};

struct post_walk_place {
	const struct post_path_code *code;
	uint32_t block;
	enum post_walk_state state;
	/* Code that is not followed is there, and has called a function that returned. */
	bool calls;
	/* POST_WALK_ENTRY: the way to `block` has led behind what records that. */
	bool behind;
};

/* Steps of a walk, by their numbers in the order in which they are handed on. */
struct post_walk_range {
	uint64_t from, to;
};

struct post_walk_ranges {
	struct post_walk_range *items;
	size_t count, capacity;
};

struct post_walk_frame {
	struct post_walk_place back;
	bool between;   /* no call was made: a callback or a signal handler came at that place, */
	bool interrupt; /* or an interrupt */
	bool switches;  /* and when it returns, another task goes on: */
	uint32_t task;
	uint32_t last; /* of code that was interrupted, these four as in struct post_walker */
	unsigned stops;
	uint32_t begun;
	uint32_t outer;
	uint32_t registers; /* of an interrupt: where its registers are on the stack */
	/* Of what came between: the place is in code that is not followed, which may have called
	 * it; and these two as in struct post_walker. */
	bool outside;
	bool entered;
	size_t base;
	bool named; /* The code at that place leads to it by its name. */
};

struct post_walker {
	uint32_t thread;
	struct post_walk_place at;
	struct post_walk_frame *frames;
	size_t count, capacity;
	uint32_t epoch;
	bool lost;     /* bits were left out, and a gap is reported */
	bool rootless; /* it began in the middle: the outermost call may return to what is not
			  known, */
	bool returned; /* and has done so, and no gap says that yet */
	bool amid;     /* an interrupt came in code that words were missing of */
	bool unknown;  /* the walk began later, and no word has shown its place yet */
	bool outside;  /* code that is not followed is outside of all calls, and calls again and
			  again */
	/* Of a task: its stack pointer when it was interrupted the last time, if that is known. */
	bool is_task;
	uint32_t stack;
	uint32_t last; /* the block that was executed last, in the code of `at` */
	/* So many interrupts have come where it is, and it is known that it has not gone on. */
	unsigned stops;
	uint32_t registers; /* where those of the newest one of them are on the stack, */
	uint32_t outer;     /* and of the one before it; 0: not known */
	uint32_t handled;   /* the same of the handler that has returned last */
	bool left;      /* what had come between, an interrupt or a callback, has just returned */
	uint32_t begun; /* the block that has been given already; its bit or record follows */
	bool switching; /* the task `next_task` goes on now */
	uint32_t next_task;
	/* proof.c: the blocks that follow from the code alone, behind what was recorded last. Those
	 * before `base` are of what was interrupted. */
	struct post_walk_ranges open;
	size_t base;
	bool entered; /* what was recorded last leads to the next block */
};

/* What all threads of a process share. */
struct post_walk {
	struct post_session *session;
	const struct post_process *process;
	struct post_path_codes *codes;
	void (*take)(void *context, const struct post_path_step *step);
	void *context;
	struct post_path_totals *totals;
	struct post_walker *walkers;
	size_t count, capacity;
	bool within;     /* chunks before the first one are left out */
	size_t first;    /* of those that have not ended by a restart */
	uint64_t offset; /* of the word that is read */
	bool ended;      /* the process has ended by exit() */
	unsigned reported;
	/* proof.c */
	uint64_t given;              /* steps so far */
	struct post_walk_held *held; /* the last ones, which are not handed on yet: */
	size_t held_first, held_count, held_capacity;
	bool looking; /* a copy that hands on nothing, but finds what is not proved: */
	struct post_walk_ranges unproved; /* blocks, sorted when it has come to the end */
	bool known;                       /* it has, and nothing need be held any more */
	size_t passed;                    /* so many of the ranges are over */
};

/* A step that waits for one that is open, or is so itself: a block of which it is not known yet
 * whether something proves it. */
struct post_walk_held {
	struct post_path_step step;
	bool open;
};

/* Whether many blocks that follow from the code alone lead in a circle: one of them, with the calls
 * that were open then. */
struct post_walk_circle {
	const struct post_path_code *code; /* NULL: there is none yet */
	uint32_t block;
	size_t depth;
	size_t steps, next; /* blocks so far, and with how many another one is taken */
	size_t outermost;   /* the fewest calls that were open */
};

/* What lies ahead, before anything else can be recorded. */
struct post_walk_ahead {
	bool leads_to; /* the start of the block, which is recorded */
	bool passes;   /* the block is among those on the way */
	bool jumps_to; /* so is a jump in the function that may lead to the block as a label */
	bool may_call; /* so is a call or a jump that may lead to any function, */
	bool pointer;  /* and one of these through a pointer, */
	bool named;    /* by the name of the function, */
	bool throws;   /* or of one that ends calls: longjmp(), or the throwing of an exception */
	/* So is code that is not followed, also that which the thread is in: it may call any
	 * function, */
	bool outside;
	bool returns_to; /* or it returns, which is recorded, and that leads to the block */
};

static inline const struct post_path_block *post_walk_block(const struct post_walk_place *place)
{
	return &place->code->blocks[place->block];
}

/* Where control comes to a block that records that, if it does. */
static inline struct post_walk_place post_walk_start_of(const struct post_path_code *code,
							uint32_t block)
{
	return (struct post_walk_place){.code = code, .block = block, .state = POST_WALK_ENTRY};
}

/* walker.c */

/* Reports that the words of the thread and the code do not agree. */
void post_walk_disagree(struct post_walk *walk, const struct post_walker *walker,
			const char *message);

/* Hands on what the thread does at its place. */
void post_walk_give(struct post_walk *walk, struct post_walker *walker, enum post_path_kind kind);

/* A call goes back to the place. */
void post_walk_push(struct post_walker *walker, struct post_walk_place back);

/* The innermost of these returns. */
void post_walk_leave(struct post_walker *walker);

/* A gap: nothing is known of the thread. */
void post_walk_begin_anew(struct post_walk *walk, struct post_walker *walker);

/* The end of the block: taken, or what it does without a condition. */
void post_walk_end_block(struct post_walker *walker);

/* The block is executed; up to its branch, if that is recorded. */
void post_walk_execute(struct post_walk *walk, struct post_walker *walker);

/* So far as the code alone says, up to where an interrupt returns to. */
void post_walk_advance(struct post_walk *walk, struct post_walker *walker);

/* The same, and to the task that goes on then: where the next bit or record belongs. */
struct post_walker *post_walk_settle(struct post_walk *walk, struct post_walker *walker);

/* The thread with this number, which may be new. */
struct post_walker *post_walk_thread(struct post_walk *walk, uint32_t thread);

/* The word has bits. Returns the thread that goes on. */
struct post_walker *post_walk_take_bits(struct post_walk *walk, struct post_walker *walker,
					uint32_t word);

/* The task with this stack pointer. A new one becomes a separate thread. */
struct post_walker *post_walk_task(struct post_walk *walk, struct post_walker *walker,
				   uint32_t stack);

/* Control came to block `number`, which records that. */
void post_walk_take_record(struct post_walk *walk, struct post_walker *walker,
			   const struct post_path_code *code, uint32_t number);

/* Does the address, as it was linked, say that a jump has led to a block? *number is that one's. */
bool post_walk_is_jump(const struct post_path_code *code, uint32_t link, uint32_t *number);

/* Is the thread behind a jump that may do so? */
bool post_walk_may_jump(const struct post_walker *walker, const struct post_path_code *code,
			uint32_t number);

/* It has: the thread goes on there. */
void post_walk_take_jump(struct post_walk *walk, struct post_walker *walker,
			 const struct post_path_code *code, uint32_t number);

/* walk.c */

/* The edge whose code has the run-time address; *code is its module's, *link the same address as
 * it was linked. */
const struct post_path_edge *post_walk_edge(struct post_walk *walk,
					    const struct post_walker *walker, uint32_t address,
					    const struct post_path_code **code, uint32_t *link);

/* Is the address, as it was linked, in the part of the edge's code that records the start of the
 * block? */
bool post_walk_is_entering(const struct post_path_code *code, const struct post_path_edge *edge,
			   uint32_t address);

/* unwind.c */

/* Is the place, or was it the last, in the function of the block? */
bool post_walk_is_of_function(const struct post_walk_place *place,
			      const struct post_path_code *code, uint32_t block);

/* Is it still there? */
bool post_walk_is_in_function(const struct post_walk_place *place,
			      const struct post_path_code *code, uint32_t block);

/* Ends calls until the innermost one is that from which an exception goes on at the label, or else
 * one of the function of the block. False: there is none. */
bool post_walk_unwind_to(struct post_walk *walk, struct post_walker *walker,
			 const struct post_path_code *code, uint32_t block, uint32_t label);

/* The thread is behind a jump. If that is a call that does not return, as one of longjmp(), or if
 * the thread is where such a call would return to, calls end up to where code that is not followed
 * has called, as that goes on. False: it is not, or none has called. */
bool post_walk_unwind_outside(struct post_walk *walk, struct post_walker *walker);

/* Out of code that is not followed: it has returned by the next bit or record of its caller. */
void post_walk_come_back(struct post_walk *walk, struct post_walker *walker);

/* proof.c */

void post_walk_add_range(struct post_walk_ranges *ranges, struct post_walk_range range);

/* Block number `number` of the walk is next. Is it open? */
static inline bool post_walk_is_open(struct post_walker *walker, uint64_t number)
{
	struct post_walk_ranges *open = &walker->open;

	if (walker->entered) {
		walker->entered = false;
		return false;
	}
	if (open->count > walker->base && open->items[open->count - 1].to == number)
		open->items[open->count - 1].to++;
	else
		post_walk_add_range(open, (struct post_walk_range){number, number + 1});
	return true;
}

/* What is not proved is known: is the step, which is behind the last one asked for? */
static inline bool post_walk_is_unproved(struct post_walk *walk, uint64_t number)
{
	const struct post_walk_ranges *ranges = &walk->unproved;

	while (walk->passed < ranges->count && ranges->items[walk->passed].to <= number)
		walk->passed++;
	return walk->passed < ranges->count && ranges->items[walk->passed].from <= number;
}

static inline void post_walk_hand_on(struct post_walk *walk, const struct post_path_step *step)
{
	if (step->kind == POST_PATH_BLOCK)
		walk->totals->blocks++;
	walk->take(walk->context, step);
}

/* The step, which is the last one, is open, or waits for others that are. */
void post_walk_hold(struct post_walk *walk, const struct post_path_step *step, bool open);

/* It is decided whether the blocks of the thread that are open, from `base` on, were executed. */
void post_walk_decide(struct post_walk *walk, struct post_walker *walker, bool proved);

/* What was handed on of the thread, up to the last thing that came between, was executed. */
static inline void post_walk_prove(struct post_walk *walk, struct post_walker *walker)
{
	if (walker->open.count > walker->base)
		post_walk_decide(walk, walker, true);
	walker->entered = false;
}

/* The same, and so will be the first instruction of the next block. */
static inline void post_walk_prove_entry(struct post_walk *walk, struct post_walker *walker)
{
	post_walk_prove(walk, walker);
	walker->entered = true;
}

/* Something comes between at the place of the thread: its frame is filled, and it begins. */
void post_walk_begin_between(struct post_walk *walk, struct post_walker *walker,
			     struct post_walk_frame *frame);

/* It returns. */
void post_walk_end_between(struct post_walker *walker, const struct post_walk_frame *frame);

/* Nothing returns: the thread goes on with so many open calls, by a longjmp() or an exception. */
void post_walk_unwind(struct post_walk *walk, struct post_walker *walker, size_t count);

/* Nothing is known of what comes behind, and by then the thread had gone on. */
void post_walk_forget(struct post_walk *walk, struct post_walker *walker);

/* No more is recorded of the thread. */
void post_walk_end_thread(struct post_walk *walk, struct post_walker *walker);

/* So much is held that it takes too much memory. */
static inline bool post_walk_holds_much(const struct post_walk *walk)
{
	return walk->held_count > POST_WALK_HELD_MOST;
}

/* Makes a copy that looks ahead, to be walked from there to the end, and ends it: then it is known
 * of all steps of `walk` what is not proved. */
void post_walk_begin_to_look(const struct post_walk *walk, struct post_walk *ahead,
			     struct post_path_totals *unused);
void post_walk_have_looked(struct post_walk *walk, struct post_walk *ahead);

/* All is read: hands on what is held. */
void post_walk_end_held(struct post_walk *walk);

/* Frees the threads. */
void post_walk_release(struct post_walk *walk);

/* ahead.c */

/* The thread comes to a block. Has it been there, in the same call? Begin with zeros. */
bool post_walk_is_in_circle(struct post_walk_circle *circle, const struct post_walker *walker);

/* Is the thread in code that is not followed? If its return is recorded, it stands where that will
 * be. */
bool post_walk_is_outside(const struct post_walker *walker);

/* Is the thread in code that is not followed, which records nothing when it returns? */
bool post_walk_returns_unseen(const struct post_walker *walker);

/* It has returned. */
void post_walk_leave_unseen(struct post_walker *walker);

/* The thread is in code that is not followed, to which a pointer has led. Was that a function that
 * is followed, which has ended? Then its caller goes on. */
bool post_walk_is_answered(const struct post_walker *walker);

/* Does code that is not followed, which the place is in, begin by a name that the function has, and
 * has it not called anything yet? The function may be in another module. */
bool post_walk_leads_by_name(const struct post_walk_place *place, const struct post_path_code *code,
			     uint32_t function);

/* What post_walk_ahead() has seen by a name: the thread has gone on to the call or jump that leads
 * to the function, or with POST_NONE to one that ends calls. */
void post_walk_pass_by_name(struct post_walk *walk, struct post_walker *walker,
			    const struct post_path_code *code, uint32_t function);

/* The thread is in code that is not followed. Was that called by a name that does not return:
 * longjmp, or one that goes on with an exception? */
bool post_walk_throws(const struct post_walker *walker);

/* The thread is in a call whose return is not recorded, and a later one ends calls. Has that led to
 * the block? */
bool post_walk_throws_later(const struct post_walker *walker, const struct post_path_code *code,
			    uint32_t number);

/* Does an exception out of the call that the place is in go on at the address? */
bool post_walk_lands_at(const struct post_walk_place *place, const struct post_path_code *code,
			uint32_t address);

/* It has gone on: to the block for which a record is, or to the next call or jump through a
 * pointer. */
void post_walk_pass(struct post_walk *walk, struct post_walker *walker, bool to_block);

/* Does the block at the place end with a jump that may lead to block number `label`, which is one?
 */
bool post_walk_is_switch_to(const struct post_walk_place *place, const struct post_path_code *code,
			    uint32_t label);

/* What lies ahead of the thread, and if it is in code that is not followed, when that returns. */
struct post_walk_ahead post_walk_ahead(const struct post_walker *walker,
				       const struct post_path_code *code, uint32_t number);

/* An interrupt handler has ended in a tail call through a pointer, and what that led to has
 * returned: nothing need be recorded of that. Has the handler returned, so that the code which it
 * has interrupted goes on, and calls the function? The jump may have led to other code, which calls
 * this one as well: only where the interrupted code can't. */
bool post_walk_has_gone_on(const struct post_walker *walker, const struct post_path_code *code,
			   uint32_t function);

/* stack.c */

/* The thread is in the code of an edge; `words` are those of LITIFUT_WORD_SYNC. */
void post_walk_take_sync(struct post_walk *walk, struct post_walker *walker, const uint32_t *words,
			 uint32_t count);

/* interrupts.c */

/* Where the code of an edge, or what has moved beside it, leads from `at` on; 0: not known.
 * *records: it records a bit before. */
uint32_t post_walk_way_out(const struct post_path_code *code, const struct post_image *image,
			   uint32_t at, bool thumb, bool *records);

/* A handler has read the stack pointer of the task that it has interrupted. */
void post_walk_take_saved(struct post_walker *walker, uint32_t stack);

/* The handler returns to the task with this stack pointer. */
void post_walk_take_resumed(struct post_walker *walker, uint32_t stack);

/* An interrupt has come before the instruction at the address, see LITIFUT_PATHS_INTERRUPT. Returns
 * the thread that it has interrupted. */
struct post_walker *post_walk_take_interrupt(struct post_walk *walk, struct post_walker *walker,
					     uint32_t address, uint32_t registers);

#endif
