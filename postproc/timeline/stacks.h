/* The nesting of calls, rebuilt from the order of calls alone.
 *
 * A trace says when a function is called, never when it returns. But the next
 * call tells which function made it, so everything above that function on the
 * stack must have returned by then. Two things stay open:
 *
 * - A function that is on the stack more than once (recursion): which of its
 *   activations made the call? Call sites help: an activation goes through its
 *   sites in the order of their addresses but for loops, and it begins with
 *   one of the sites that functions of this name were seen to begin with. What
 *   is decided in this way is marked as a guess.
 * - A function that is not on the stack at all: it was entered by code that is
 *   not traced (a callback, a thread's start, a signal handler). It is put under
 *   the uppermost function that is not traced itself, or else it starts anew. */
#ifndef LITIFUT_POSTPROC_TIMELINE_STACKS_H
#define LITIFUT_POSTPROC_TIMELINE_STACKS_H

#include "postproc/model/session.h"

struct post_frame {
	uint32_t function;      /* behind a PLT entry: the function itself, if it is known */
	uint32_t call;          /* that led here, POST_NONE: entered from code that is not traced */
	uint32_t last_site;     /* of the last call that this activation made, 0: none yet */
	uint32_t previous_same; /* index + 1 of the frame below of the same function */
	bool guessed;
	uint64_t number; /* for the format: event number, node, time ... */
	uint64_t time;
};

/* Of one thread. All zero is an empty stack. */
struct post_stack {
	struct post_frame *frames;
	uint32_t depth, capacity;
	uint32_t *top_of; /* by function: index + 1 of its uppermost frame */
	uint32_t function_capacity;
};

/* What all stacks of a session share. All zero to start with. */
struct post_stacks {
	struct post_session *session;
	struct post_table first_sites;
	uint32_t *targets; /* by function: what is behind a PLT entry, POST_NONE: not asked yet */
	uint32_t target_count;
	/* Called for each frame that is left, uppermost first; may be NULL. */
	void (*leave)(void *context, const struct post_stack *stack, const struct post_frame *frame,
		      uint32_t depth);
	/* Called for a frame that code which is not traced has entered. */
	void (*enter)(void *context, struct post_stack *stack, struct post_frame *frame,
		      uint32_t depth);
	void *context;
};

/* Takes in one call. Returns the new frame, that of the callee; its depth is
 * stack->depth - 1, and the caller's frame is the one below. */
struct post_frame *post_stack_call(struct post_stacks *stacks, struct post_stack *stack,
				   uint32_t call);

/* Leaves all frames. */
void post_stack_unwind(struct post_stacks *stacks, struct post_stack *stack);

void post_stack_release(struct post_stack *stack);

/* For formats that keep a struct post_stack, or something of `bytes` bytes that
 * begins with one, in thread->state: gives that of the thread, all zero when it
 * is new. It belongs to the stacks, whose release frees it. */
void *post_thread_stack(struct post_thread *thread, size_t bytes);

/* Leaves all frames of all threads with such a stack. */
void post_stacks_unwind(struct post_stacks *stacks);

/* Releases everything, the stacks of the session's threads included. */
void post_stacks_release(struct post_stacks *stacks);

#endif
