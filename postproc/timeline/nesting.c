/* Open calls of lanes; nesting.h says how they are derived. */
#include "postproc/timeline/nesting.h"

#include <stdlib.h>
#include <string.h>

/* Recursion that a loop drives looks ever deeper; memory must not follow. */
#define DEEPEST 2048u

static void emit(const struct post_nesting *nesting, const struct post_thread *thread,
		 const struct post_frame *frame, uint32_t depth, enum post_event_kind kind,
		 unsigned flags)
{
	struct post_timeline_event event = {
		.kind = (uint8_t)kind,
		.flags = (uint8_t)flags,
		.lane = thread->lane,
		.time = thread->stack->time,
		.module = nesting->session->functions[frame->function].module,
		.site = frame->call,
		.callee = frame->function,
		.depth = depth,
	};

	nesting->sink->push(nesting->sink->context, &event);
}

static void pop_to(struct post_nesting *nesting, struct post_thread *thread, uint32_t depth,
		   unsigned flags)
{
	struct post_stack *stack = thread->stack;

	while (stack->depth > depth) {
		const struct post_frame *frame = &stack->frames[--stack->depth];
		if (stack->shown)
			emit(nesting, thread, frame, stack->depth, POST_EVENT_LEAVE, flags);
		stack->top_of[frame->function] = frame->previous_same;
	}
}

static struct post_frame *push(const struct post_nesting *nesting, struct post_stack *stack,
			       uint32_t function, uint32_t call)
{
	if (function >= stack->function_capacity) {
		uint32_t count = (uint32_t)nesting->session->function_count * 2;
		stack->top_of = post_reallocate(stack->top_of, count, sizeof(*stack->top_of));
		memset(stack->top_of + stack->function_capacity, 0,
		       (count - stack->function_capacity) * sizeof(*stack->top_of));
		stack->function_capacity = count;
	}
	POST_GROW(stack->frames, stack->depth, stack->capacity);
	struct post_frame *frame = &stack->frames[stack->depth++];
	uint32_t below = stack->top_of[function];
	*frame = (struct post_frame){
		.function = function,
		.call = call,
		.previous_same = below,
		.least_site = below ? stack->frames[below - 1].least_site : UINT32_MAX,
		.time = stack->time,
	};
	stack->top_of[function] = stack->depth;
	return frame;
}

static bool is_first_site(const struct post_nesting *nesting, const struct post_call *call)
{
	return call->site < nesting->site_count && nesting->is_first[call->site];
}

static void set_first_site(struct post_nesting *nesting, const struct post_call *call)
{
	if (call->site >= nesting->site_count) {
		uint32_t count = nesting->session->site_count * 2;
		nesting->is_first = post_reallocate(nesting->is_first, count, sizeof(bool));
		memset(nesting->is_first + nesting->site_count, 0, count - nesting->site_count);
		nesting->site_count = count;
	}
	nesting->is_first[call->site] = true;
}

/* Index + 1 of the activation that made the call, 0: none is on the stack. */
static uint32_t find_caller(struct post_nesting *nesting, const struct post_stack *stack,
			    const struct post_call *call)
{
	uint32_t top = call->caller < stack->function_capacity ? stack->top_of[call->caller] : 0;

	/* Where returns are recorded, what has returned is not on the stack. */
	if (!top || !stack->frames[top - 1].previous_same || call->spans)
		return top;
	if (!stack->frames[top - 1].last_site && is_first_site(nesting, call))
		return top;
	if (stack->frames[top - 1].least_site >= call->site_address)
		return top; /* none of them; the walk would take most of the time */
	for (uint32_t at = top; at; at = stack->frames[at - 1].previous_same) {
		uint32_t last = stack->frames[at - 1].last_site;
		if (last && last < call->site_address)
			return at;
	}
	return top;
}

/* Code that is not traced may call back into code that is. */
static uint32_t uppermost_untraced(const struct post_nesting *nesting,
				   const struct post_stack *stack)
{
	for (uint32_t depth = stack->depth; depth; depth--) {
		const struct post_function *function =
			&nesting->session->functions[stack->frames[depth - 1].function];
		if (function->plt || !nesting->session->modules[function->module].traced)
			return depth;
	}
	return 0;
}

/* A call whose return will be told is open until then. */
static uint32_t uppermost_open(const struct post_nesting *nesting, const struct post_stack *stack)
{
	uint32_t depth = stack->depth;

	while (depth && (stack->frames[depth - 1].call == POST_NONE ||
			 !nesting->session->calls[stack->frames[depth - 1].call].returns))
		depth--;
	return depth;
}

/* Where the frames of the lane are that the caller is on top of; 0: it was entered anew. */
static uint32_t settle_caller(struct post_nesting *nesting, struct post_thread *thread,
			      const struct post_call *call, bool *guessed)
{
	struct post_stack *stack = thread->stack;
	uint32_t at = find_caller(nesting, stack, call);

	*guessed = at && (stack->frames[at - 1].previous_same || stack->top_of[call->caller] != at);
	if (!at) {
		uint32_t untraced = uppermost_untraced(nesting, stack);
		uint32_t open = uppermost_open(nesting, stack);
		pop_to(nesting, thread, untraced > open ? untraced : open, POST_EVENT_GUESSED);
		const struct post_frame *entered = push(nesting, stack, call->caller, POST_NONE);
		if (stack->shown)
			emit(nesting, thread, entered, stack->depth - 1, POST_EVENT_ENTER, 0);
		at = stack->depth;
	}
	if (stack->depth >= DEEPEST) {
		while (stack->frames[at - 1].previous_same)
			at = stack->frames[at - 1].previous_same;
		if (at + 1 >= DEEPEST) /* it is not recursion that made it so deep */
			at = DEEPEST / 2;
	}
	pop_to(nesting, thread, at, POST_EVENT_GUESSED);
	return at;
}

void post_nesting_call(struct post_nesting *nesting, struct post_thread *thread, uint32_t number,
		       uint64_t time, bool shown)
{
	if (!thread->stack)
		thread->stack = post_allocate(1, sizeof(*thread->stack));
	struct post_stack *stack = thread->stack;
	const struct post_call *call = &nesting->session->calls[number];
	bool are_open = !stack->shown && stack->depth, guessed;

	if (time > stack->time)
		stack->time = time;
	stack->shown = stack->shown || (shown && !are_open);
	uint32_t at = settle_caller(nesting, thread, call, &guessed);
	struct post_frame *caller = &stack->frames[at - 1];
	if (!caller->last_site && !guessed)
		set_first_site(nesting, call);
	caller->last_site = call->site_address;
	caller->least_site = caller->previous_same
				     ? stack->frames[caller->previous_same - 1].least_site
				     : UINT32_MAX;
	if (call->site_address && call->site_address < caller->least_site)
		caller->least_site = call->site_address;
	push(nesting, stack, call->behind, number);
	if (!shown)
		return;
	for (uint32_t depth = 0; are_open && depth + 1 < stack->depth; depth++)
		emit(nesting, thread, &stack->frames[depth], depth, POST_EVENT_ENTER,
		     POST_EVENT_BEFORE);
	stack->shown = true;
	struct post_timeline_event event = {
		.kind = POST_EVENT_ENTER,
		.flags = (guessed ? POST_EVENT_GUESSED : 0) | (call->tail ? POST_EVENT_TAIL : 0),
		.lane = thread->lane,
		.time = stack->time,
		.module = call->callee_module,
		.site = number,
		.callee = call->callee,
		.depth = stack->depth - 1,
	};
	nesting->sink->push(nesting->sink->context, &event);
}

/* What leaving this frame is, where the one below it returns. */
static unsigned flags_above(const struct post_nesting *nesting, const struct post_frame *frame)
{
	const struct post_call *call =
		frame->call == POST_NONE ? NULL : &nesting->session->calls[frame->call];

	if (!call)
		return POST_EVENT_GUESSED;
	if (call->tail) /* it ends with the call that it has taken the place of */
		return 0;
	return call->returns ? POST_EVENT_CUT : POST_EVENT_GUESSED;
}

void post_nesting_return(struct post_nesting *nesting, struct post_thread *thread, uint32_t number,
			 uint64_t time, bool shown)
{
	const struct post_session *session = nesting->session;
	struct post_stack *stack = thread->stack;
	uint32_t depth = stack ? stack->depth : 0;

	while (depth &&
	       (stack->frames[depth - 1].call == POST_NONE ||
		session->calls[stack->frames[depth - 1].call].site != session->calls[number].site))
		depth--;
	if (!depth)
		return;
	if (time > stack->time)
		stack->time = time;
	stack->shown = stack->shown && shown;
	while (stack->depth > depth)
		pop_to(nesting, thread, stack->depth - 1,
		       flags_above(nesting, &stack->frames[stack->depth - 1]));
	pop_to(nesting, thread, depth - 1, 0);
}

void post_nesting_end(struct post_nesting *nesting, struct post_thread *thread)
{
	if (thread->stack)
		pop_to(nesting, thread, 0, POST_EVENT_GUESSED | POST_EVENT_OPEN);
}

void post_nesting_release(struct post_nesting *nesting)
{
	for (size_t i = 0; i < nesting->session->lane_count; i++) {
		struct post_thread *thread = nesting->session->lanes[i];
		if (!thread->stack)
			continue;
		free(thread->stack->frames);
		free(thread->stack->top_of);
		free(thread->stack);
		thread->stack = NULL;
	}
	free(nesting->is_first);
	nesting->is_first = NULL;
	nesting->site_count = 0;
}
