/* Open calls of lanes; nesting.h says how they are derived. */
#include "postproc/timeline/nesting.h"

#include <stdlib.h>
#include <string.h>

#include "postproc/timeline/entries.h"

/* Recursion that a loop drives looks ever deeper; memory must not follow. */
#define DEEPEST 2048u
#define DEEPEST_RECORDED (1u << 20)
#define DEEP 256u        /* in stacks with more frames returns need the number of open calls */
#define OPEN_SITES 4096u /* a power of two */

static void emit(const struct post_nesting *nesting, const struct post_thread *thread,
		 const struct post_frame *frame, uint32_t depth, enum post_event_kind kind,
		 unsigned flags, uint64_t value)
{
	struct post_timeline_event event = {
		.kind = (uint8_t)kind,
		.flags = (uint8_t)flags,
		.lane = thread->lane,
		.time = kind == POST_EVENT_ENTER ? frame->time : thread->stack->time,
		.taken = kind == POST_EVENT_ENTER ? frame->taken : thread->stack->taken,
		.module = nesting->session->functions[frame->function].module,
		.site = frame->call,
		.callee = frame->call == POST_NONE ? frame->function
						   : nesting->session->calls[frame->call].callee,
		.depth = depth,
		.value = value,
		.arguments = nesting->result,
	};

	nesting->sink->push(nesting->sink->context, &event);
}

/* Where the open calls at the site of this call are counted; NULL: nowhere. */
static uint32_t *open_at(const struct post_nesting *nesting, const struct post_stack *stack,
			 uint32_t call)
{
	return stack->open_sites && call != POST_NONE
		       ? &stack->open_sites[nesting->session->calls[call].site % OPEN_SITES]
		       : NULL;
}

static void count_open(const struct post_nesting *nesting, struct post_stack *stack)
{
	stack->open_sites = post_allocate(OPEN_SITES, sizeof(*stack->open_sites));
	for (uint32_t i = 0; i < stack->depth; i++) {
		uint32_t *open = open_at(nesting, stack, stack->frames[i].call);
		if (open)
			++*open;
	}
}

static void pop(const struct post_nesting *nesting, struct post_thread *thread, unsigned flags)
{
	struct post_stack *stack = thread->stack;
	struct post_frame *frame = &stack->frames[--stack->depth];
	uint64_t duration = stack->time - frame->time, self = 0;

	if (stack->depth) {
		struct post_frame *below = frame - 1;
		/* what is recorded without a time stays with the call below */
		below->child += flags & (POST_EVENT_CUT | POST_EVENT_APPROX) &&
						!(flags & POST_EVENT_GUESSED)
					? frame->child
					: duration;
		if (below->last < frame->last)
			below->last = frame->last;
	}
	if (!(flags & (POST_EVENT_GUESSED | POST_EVENT_APPROX)) && duration > frame->child)
		self = duration - frame->child;
	if (frame->before)
		flags |= POST_EVENT_BEFORE;
	if (stack->shown && !frame->hidden)
		emit(nesting, thread, frame, stack->depth, POST_EVENT_LEAVE, flags, self);
	stack->top_of[frame->function] = frame->previous_same;
	uint32_t *open = open_at(nesting, stack, frame->call);
	if (open)
		--*open;
}

static void pop_to(const struct post_nesting *nesting, struct post_thread *thread, uint32_t depth,
		   unsigned flags)
{
	while (thread->stack->depth > depth)
		pop(nesting, thread, flags);
}

/* The same where returns are recorded, of frames that end with `flags` if they are sure. */
static void cut_to(const struct post_nesting *nesting, struct post_thread *thread, uint32_t depth,
		   unsigned flags)
{
	while (thread->stack->depth > depth) {
		const struct post_frame *top = &thread->stack->frames[thread->stack->depth - 1];
		pop(nesting, thread,
		    top->sure ? flags : (flags & POST_EVENT_OPEN) | POST_EVENT_APPROX);
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
		.sure_same = below &&
			     (stack->frames[below - 1].sure || stack->frames[below - 1].sure_same),
		.time = stack->time,
		.taken = stack->taken,
		.last = stack->time,
	};
	stack->top_of[function] = stack->depth;
	uint32_t *open = open_at(nesting, stack, call);
	if (open)
		++*open;
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

	if (!top || !stack->frames[top - 1].previous_same)
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

static bool is_untraced(const struct post_nesting *nesting, const struct post_frame *frame)
{
	const struct post_function *function = &nesting->session->functions[frame->function];

	return function->plt || !nesting->session->modules[function->module].traced;
}

static const char *name_of(const struct post_nesting *nesting, const struct post_frame *frame)
{
	return nesting->session->functions[frame->function].name;
}

static bool is_in_main(const struct post_nesting *nesting, const struct post_stack *stack)
{
	for (uint32_t depth = stack->depth; depth; depth--) {
		if (post_is_main(name_of(nesting, &stack->frames[depth - 1])))
			return true;
	}
	return false;
}

/* Was this frame called, however deep, by an initialiser that code which is not traced has entered?
 */
static bool is_in_initialiser(const struct post_nesting *nesting, const struct post_stack *stack,
			      uint32_t depth)
{
	while (depth && stack->frames[depth - 1].call != POST_NONE)
		depth--;
	return depth && post_is_initialiser(name_of(nesting, &stack->frames[depth - 1]));
}

/* Is the frame at `depth` - 1, which is not traced and whose return is not recorded, over when code
 * that is not traced enters `function`? */
static bool is_over(const struct post_nesting *nesting, const struct post_stack *stack,
		    uint32_t depth, uint32_t function)
{
	const struct post_frame *frame = &stack->frames[depth - 1];
	const char *name = nesting->session->functions[function].name;
	bool over = frame->replaces_entry;

	if (post_is_main(name))
		over = over || !is_in_main(nesting, stack);
	else if (post_is_initialiser(name))
		over = over || is_in_initialiser(nesting, stack, depth);
	return over && !post_calls_back(name_of(nesting, frame), name);
}

/* Code that is not traced may call back into code that is. */
static uint32_t uppermost_untraced(const struct post_nesting *nesting,
				   const struct post_stack *stack, uint32_t entered)
{
	uint32_t depth = stack->depth;

	while (depth && (!is_untraced(nesting, &stack->frames[depth - 1]) ||
			 is_over(nesting, stack, depth, entered)))
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
		pop_to(nesting, thread, uppermost_untraced(nesting, stack, call->caller),
		       POST_EVENT_GUESSED);
		const struct post_frame *entered = push(nesting, stack, call->caller, POST_NONE);
		if (stack->shown)
			emit(nesting, thread, entered, stack->depth - 1, POST_EVENT_ENTER, 0, 0);
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

/* The same where returns are recorded. */
static uint32_t settle_recorded(struct post_nesting *nesting, struct post_thread *thread,
				const struct post_call *call)
{
	struct post_stack *stack = thread->stack;
	uint32_t at = stack->depth;

	if (at >= DEEPEST_RECORDED)
		cut_to(nesting, thread, at = DEEPEST_RECORDED / 2, POST_EVENT_CUT);
	uint32_t known = call->caller < stack->function_capacity ? stack->top_of[call->caller] : 0;
	for (; at; at--) {
		const struct post_frame *frame = &stack->frames[at - 1];
		bool untraced = is_untraced(nesting, frame);
		if (frame->function == call->caller) {
			cut_to(nesting, thread, at, POST_EVENT_CUT);
			return at;
		}
		/* Code that is not traced calls back, or a signal handler runs. A frame whose
		 * return is not recorded has more likely ended if the caller is below it. */
		if (known ? untraced && frame->sure
			  : frame->sure || (untraced && !is_over(nesting, stack, at, call->caller)))
			break;
	}
	cut_to(nesting, thread, at, POST_EVENT_CUT);
	const struct post_frame *entered = push(nesting, stack, call->caller, POST_NONE);
	if (stack->shown)
		emit(nesting, thread, entered, stack->depth - 1, POST_EVENT_ENTER, 0, 0);
	return stack->depth;
}

static struct post_stack *stack_of(const struct post_nesting *nesting, struct post_thread *thread,
				   uint64_t time)
{
	if (!thread->stack)
		thread->stack = post_allocate(1, sizeof(*thread->stack));
	if (time > thread->stack->time)
		thread->stack->time = time;
	thread->stack->taken = nesting->session->options.raw ? 0 : thread->taken >> 8;
	return thread->stack;
}

/* What was entered before the window and is open when it begins. */
static void show_open(const struct post_nesting *nesting, struct post_thread *thread,
		      uint32_t depths)
{
	for (uint32_t depth = 0; depth < depths; depth++) {
		thread->stack->frames[depth].before = true;
		if (!thread->stack->frames[depth].hidden)
			emit(nesting, thread, &thread->stack->frames[depth], depth,
			     POST_EVENT_ENTER, POST_EVENT_BEFORE, 0);
	}
	thread->stack->shown = true;
}

void post_nesting_call(struct post_nesting *nesting, struct post_thread *thread, uint32_t number,
		       const struct post_nesting_item *item)
{
	struct post_stack *stack = stack_of(nesting, thread, item->time);
	const struct post_call *call = &nesting->session->calls[number];
	bool are_open = !stack->shown && stack->depth, guessed = false;

	stack->shown = stack->shown || (item->shown && !are_open);
	uint32_t at = item->recorded ? settle_recorded(nesting, thread, call)
				     : settle_caller(nesting, thread, call, &guessed);
	struct post_frame *caller = &stack->frames[at - 1];
	if (!caller->last_site && !guessed)
		set_first_site(nesting, call);
	caller->last_site = call->site_address;
	caller->last = stack->time;
	caller->least_site = caller->previous_same
				     ? stack->frames[caller->previous_same - 1].least_site
				     : UINT32_MAX;
	if (call->site_address && call->site_address < caller->least_site)
		caller->least_site = call->site_address;
	bool sure = call->tail ? caller->sure : call->returns;
	bool replaces_entry =
		call->tail && (caller->replaces_entry || (caller->call == POST_NONE &&
							  !post_is_main(name_of(nesting, caller))));
	struct post_frame *frame = push(nesting, stack, call->behind, number);
	frame->sure = sure;
	frame->tail = call->tail;
	frame->replaces_entry = replaces_entry;
	frame->hidden = item->hidden;
	frame->stack_pointer = item->stack_pointer;
	if (item->hidden && at)
		frame->number = frame[-1].number;
	if (!item->shown)
		return;
	if (are_open)
		show_open(nesting, thread, stack->depth - 1);
	if (item->hidden)
		return;
	struct post_timeline_event event = {
		.kind = POST_EVENT_ENTER,
		.flags = (guessed ? POST_EVENT_GUESSED : 0) | (call->tail ? POST_EVENT_TAIL : 0),
		.lane = thread->lane,
		.time = stack->time,
		.taken = stack->taken,
		.module = nesting->session->functions[call->callee].module,
		.site = number,
		.callee = call->callee,
		.depth = stack->depth - 1,
		.value = item->sequence,
		.arguments = item->arguments,
	};
	nesting->sink->push(nesting->sink->context, &event);
}

void post_nesting_return(struct post_nesting *nesting, struct post_thread *thread, uint32_t site,
			 const struct post_nesting_item *item)
{
	struct post_stack *stack = stack_of(nesting, thread, item->time);
	const struct post_session *session = nesting->session;
	uint32_t at = stack->depth;

	if (item->shown && !stack->shown)
		show_open(nesting, thread, stack->depth);
	if (!stack->open_sites && at > DEEP)
		count_open(nesting, stack);
	if (stack->open_sites && !stack->open_sites[site % OPEN_SITES])
		at = 0;
	for (; at; at--) {
		const struct post_frame *frame = &stack->frames[at - 1];
		bool other_stack = item->stack_pointer && frame->stack_pointer &&
				   item->stack_pointer != frame->stack_pointer;
		if (frame->call != POST_NONE && !frame->tail && !other_stack &&
		    session->calls[frame->call].site == site)
			break;
	}
	if (!at) { /* made before recording began, or its call was lost */
		stack->unmatched++;
		return;
	}
	const bool is_interrupt = session->calls[stack->frames[at - 1].call].interrupt;
	/* Tail calls on top of it have returned with it; other calls above never will. */
	uint32_t tails = at;
	while (tails < stack->depth && stack->frames[tails].tail)
		tails++;
	cut_to(nesting, thread, tails, POST_EVENT_CUT);
	/* the tail calls end with the call itself, which has returned what the last one has */
	cut_to(nesting, thread, at, 0);
	nesting->result = item->arguments;
	cut_to(nesting, thread, at - 1, 0);
	nesting->result = NULL;
	if (stack->depth)
		stack->frames[stack->depth - 1].last = stack->time;
	/* what follows is the code that was interrupted */
	if (is_interrupt && stack->depth && stack->frames[stack->depth - 1].call == POST_NONE)
		cut_to(nesting, thread, stack->depth - 1, POST_EVENT_CUT);
}

void post_nesting_cut(struct post_nesting *nesting, struct post_thread *thread, uint32_t count)
{
	for (; thread->stack && thread->stack->depth && count; count--) {
		uint32_t at = thread->stack->depth - 1;
		while (at && (!thread->stack->frames[at].sure || thread->stack->frames[at].tail))
			at--; /* what was not recorded is not counted */
		cut_to(nesting, thread, at, POST_EVENT_CUT);
	}
}

void post_nesting_end(struct post_nesting *nesting, struct post_thread *thread)
{
	if (!thread->stack)
		return;
	if (nesting->session->processes[thread->process]->returns)
		cut_to(nesting, thread, 0, POST_EVENT_OPEN);
	else
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
		free(thread->stack->open_sites);
		free(thread->stack);
		thread->stack = NULL;
	}
	free(nesting->is_first);
	nesting->is_first = NULL;
	nesting->site_count = 0;
}
