/* Rebuilding call stacks; stacks.h tells how. */
#include "postproc/timeline/stacks.h"

#include <stdlib.h>
#include <string.h>

/* Recursion that a loop drives looks ever deeper; memory must not follow. */
#define DEEPEST 2048u

/* Finds the function that a PLT entry leads to in another module. */
static uint32_t find_target(struct post_session *session, uint32_t function)
{
	const char *name = session->functions[function].symbol;
	uint32_t own = session->functions[function].module;

	for (uint32_t m = 1; m < session->module_count; m++) {
		const struct post_image *image = session->modules[m].image;
		for (size_t i = 0; image && m != own && i < image->symbols.count; i++) {
			const struct post_symbol *symbol = &image->symbols.items[i];
			if (symbol->flags & (POST_SYMBOL_GLOBAL | POST_SYMBOL_WEAK) &&
			    !(symbol->flags & POST_SYMBOL_PLT) && !strcmp(symbol->name, name))
				return post_session_function(session, m, symbol->address);
		}
	}
	return function;
}

static uint32_t behind_plt(struct post_stacks *stacks, uint32_t function)
{
	if (!stacks->session->functions[function].plt)
		return function;
	if (function >= stacks->target_count) {
		uint32_t count = (uint32_t)stacks->session->function_count;
		stacks->targets = post_reallocate(stacks->targets, count, sizeof(*stacks->targets));
		for (uint32_t i = stacks->target_count; i < count; i++)
			stacks->targets[i] = POST_NONE;
		stacks->target_count = count;
	}
	if (stacks->targets[function] == POST_NONE) {
		uint32_t target = find_target(stacks->session, function);
		stacks->targets[function] = target;
	}
	return stacks->targets[function];
}

static void pop(struct post_stacks *stacks, struct post_stack *stack)
{
	struct post_frame *frame = &stack->frames[stack->depth - 1];

	if (stacks->leave)
		stacks->leave(stacks->context, stack, frame, stack->depth - 1);
	stack->top_of[frame->function] = frame->previous_same;
	stack->depth--;
}

static void pop_to(struct post_stacks *stacks, struct post_stack *stack, uint32_t depth)
{
	while (stack->depth > depth)
		pop(stacks, stack);
}

static struct post_frame *push(struct post_stacks *stacks, struct post_stack *stack,
			       uint32_t function, uint32_t call)
{
	if (function >= stack->function_capacity) {
		uint32_t count = (uint32_t)stacks->session->function_count * 2;
		stack->top_of = post_reallocate(stack->top_of, count, sizeof(*stack->top_of));
		memset(stack->top_of + stack->function_capacity, 0,
		       (count - stack->function_capacity) * sizeof(*stack->top_of));
		stack->function_capacity = count;
	}
	POST_GROW(stack->frames, stack->depth, stack->capacity);
	struct post_frame *frame = &stack->frames[stack->depth++];
	*frame = (struct post_frame){
		.function = function,
		.call = call,
		.previous_same = stack->top_of[function],
	};
	stack->top_of[function] = stack->depth;
	return frame;
}

static bool is_first_site(const struct post_stacks *stacks, const struct post_call *call)
{
	struct post_key key = {{call->site_module, call->site_address}};

	return post_table_find(&stacks->first_sites, key) != POST_NONE;
}

/* Index + 1 of the activation that made the call, 0: none is on the stack. */
static uint32_t find_caller(struct post_stacks *stacks, const struct post_stack *stack,
			    const struct post_call *call)
{
	uint32_t top = call->caller < stack->function_capacity ? stack->top_of[call->caller] : 0;

	if (!top || !stack->frames[top - 1].previous_same)
		return top;
	if (!stack->frames[top - 1].last_site && is_first_site(stacks, call))
		return top;
	for (uint32_t at = top; at; at = stack->frames[at - 1].previous_same) {
		uint32_t last = stack->frames[at - 1].last_site;
		if (last && last < call->site_address)
			return at;
	}
	return top;
}

/* Code that is not traced may call back into code that is. */
static uint32_t uppermost_untraced(const struct post_stacks *stacks, const struct post_stack *stack)
{
	for (uint32_t depth = stack->depth; depth; depth--) {
		const struct post_function *function =
			&stacks->session->functions[stack->frames[depth - 1].function];
		if (function->plt || !stacks->session->modules[function->module].traced)
			return depth;
	}
	return 0;
}

struct post_frame *post_stack_call(struct post_stacks *stacks, struct post_stack *stack,
				   uint32_t number)
{
	const struct post_call call = stacks->session->calls[number];
	uint32_t at = find_caller(stacks, stack, &call);
	bool guessed =
		at && (stack->frames[at - 1].previous_same || stack->top_of[call.caller] != at);

	if (!at) {
		pop_to(stacks, stack, uppermost_untraced(stacks, stack));
		struct post_frame *entered = push(stacks, stack, call.caller, POST_NONE);
		if (stacks->enter)
			stacks->enter(stacks->context, stack, entered, stack->depth - 1);
		at = stack->depth;
	}
	if (stack->depth >= DEEPEST) {
		while (stack->frames[at - 1].previous_same)
			at = stack->frames[at - 1].previous_same;
		if (at + 1 >= DEEPEST) /* it is not recursion that made it so deep */
			at = DEEPEST / 2;
	}
	pop_to(stacks, stack, at);
	struct post_frame *caller = &stack->frames[at - 1];
	if (!caller->last_site && !guessed) {
		struct post_key key = {{call.site_module, call.site_address}};
		post_table_put(&stacks->first_sites, key, 1);
	}
	caller->last_site = call.site_address;
	struct post_frame *frame = push(stacks, stack, behind_plt(stacks, call.callee), number);
	frame->guessed = guessed;
	return frame;
}

void post_stack_unwind(struct post_stacks *stacks, struct post_stack *stack)
{
	pop_to(stacks, stack, 0);
}

void post_stack_release(struct post_stack *stack)
{
	free(stack->frames);
	free(stack->top_of);
	*stack = (struct post_stack){0};
}

void *post_thread_stack(struct post_thread *thread, size_t bytes)
{
	if (!thread->state)
		thread->state = post_allocate(1, bytes);
	return thread->state;
}

static void each_thread_stack(struct post_stacks *stacks,
			      void (*act)(struct post_stacks *stacks, struct post_thread *thread))
{
	for (size_t p = 0; p < stacks->session->process_count; p++) {
		struct post_process *process = stacks->session->processes[p];
		for (size_t t = 0; t < process->thread_count; t++) {
			if (process->threads[t]->state)
				act(stacks, process->threads[t]);
		}
	}
}

static void unwind_thread(struct post_stacks *stacks, struct post_thread *thread)
{
	post_stack_unwind(stacks, thread->state);
}

static void release_thread(struct post_stacks *stacks, struct post_thread *thread)
{
	(void)stacks;
	post_stack_release(thread->state);
	free(thread->state);
	thread->state = NULL;
}

void post_stacks_unwind(struct post_stacks *stacks)
{
	each_thread_stack(stacks, unwind_thread);
}

void post_stacks_release(struct post_stacks *stacks)
{
	each_thread_stack(stacks, release_thread);
	post_table_release(&stacks->first_sites);
	free(stacks->targets);
	*stacks = (struct post_stacks){0};
}
