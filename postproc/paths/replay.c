#include "postproc/paths/replay.h"

#include <stdlib.h>
#include <string.h>

#include "postproc/table.h"

/* An activation of a function. */
struct frame {
	uint32_t function;
	struct path_place place;
	size_t first_step; /* of the path, in `steps` */
	bool part;         /* its paths are part of the caller's */
	bool called;       /* the callee of the node has been entered */
	bool broken;       /* control has come from elsewhere: the path has no number */
};

struct replayer {
	const struct path_program *program;
	struct path_flow *flow;
	const struct path_numbers *numbers;
	struct path_replay *replay;
	struct frame *frames;
	size_t depth, frame_capacity;
	uint32_t *steps; /* nodes of the paths that have not ended */
	size_t step_count, step_capacity;
	uint32_t *decoded;
	size_t decoded_capacity;
};

static bool is_traced(const struct replayer *r, uint32_t function)
{
	return r->flow->functions[function].traced;
}

static void add_token(struct replayer *r, uint32_t function, enum path_token_kind kind, uint64_t id)
{
	struct path_replay *replay = r->replay;

	if (!is_traced(r, function))
		return;
	POST_GROW(replay->tokens, replay->token_count, replay->token_capacity);
	replay->tokens[replay->token_count++] = (struct path_token){id, function, (uint8_t)kind};
}

static void add_step(struct replayer *r, uint32_t node)
{
	POST_GROW(r->steps, r->step_count, r->step_capacity);
	r->steps[r->step_count++] = node;
}

static void enter(struct replayer *r, uint32_t function, bool by_call)
{
	const struct path_function_numbers *about = &r->numbers->functions[function];
	bool part = by_call && !about->reasons && is_traced(r, r->frames[r->depth - 1].function);

	r->replay->entered_unknown += !by_call;
	if (!about->reasons && !part) {
		r->flow->functions[function].entered_otherwise = true;
		r->replay->again = true;
	}
	r->replay->activations[function]++;
	r->replay->inner_loops += r->depth && about->reasons && about->loops;
	POST_GROW(r->frames, r->depth, r->frame_capacity);
	r->frames[r->depth++] = (struct frame){.function = function,
					       .place = path_begin(r->numbers, function),
					       .first_step = r->step_count,
					       .part = part};
	add_step(r, r->flow->functions[function].first);
	if (!part)
		add_token(r, function, PATH_ENTERS, 0);
}

/* Does the number stand for what was executed? */
static void check(struct replayer *r, const struct frame *frame, uint64_t id)
{
	const size_t count = r->step_count - frame->first_step;

	if (frame->broken || !is_traced(r, frame->function))
		return;
	if (r->decoded_capacity < count) {
		r->decoded_capacity = 2 * count;
		r->decoded = post_reallocate(r->decoded, r->decoded_capacity, sizeof(*r->decoded));
	}
	if (path_decode(r->numbers, frame->function, id, r->decoded, count) == count &&
	    !memcmp(r->decoded, r->steps + frame->first_step, count * sizeof(*r->decoded)))
		r->replay->equal++;
	else
		r->replay->different++;
}

/* A path of the last frame has ended; `left`: and so has its activation. */
static void end_path(struct replayer *r, uint64_t id, bool left)
{
	struct frame *frame = &r->frames[r->depth - 1];

	if (!frame->part) {
		check(r, frame, id);
		add_token(r, frame->function, left ? PATH_LEAVES : PATH_ENDS, id);
		r->step_count = frame->first_step;
		frame->broken = false;
	} else if (left) {
		struct frame *caller = frame - 1;

		path_returned(r->numbers, &caller->place, id);
		caller->broken |= frame->broken;
	}
	r->depth -= left;
}

static void count_decision(struct replayer *r, const struct frame *frame, uint32_t edge)
{
	const struct path_node *node = &r->flow->nodes[frame->place.node];
	const uint32_t block = r->program->graph.block_of[frame->place.node];
	struct path_replay *replay = r->replay;

	if (node->count < 2 || !is_traced(r, frame->function))
		return;
	if (block == PATH_NO_BLOCK) {
		replay->decisions[frame->function]++;
		replay->jumps++;
		replay->jump_bits += path_bits(node->count);
	} else if (r->program->image->blocks[block].flags & LITIFUT_BLOCK_CONDITIONAL) {
		replay->decisions[frame->function]++;
		POST_GROW(replay->branches, replay->branch_count, replay->branch_capacity);
		replay->branches[replay->branch_count++] = edge != node->first;
	}
}

static void follow(struct replayer *r, uint32_t edge)
{
	struct frame *frame = &r->frames[r->depth - 1];
	const uint32_t target = r->flow->edges[edge];
	uint64_t id = 0;
	bool ended = target == PATH_EXIT;

	count_decision(r, frame, edge);
	if (is_traced(r, frame->function))
		ended = path_follow(r->numbers, &frame->place, edge, &id);
	else
		frame->place.node = target;
	frame->called = false;
	if (ended)
		end_path(r, id, target == PATH_EXIT);
	if (target != PATH_EXIT)
		add_step(r, target);
}

/* The edge of the last frame's node that leads to a target; the number of edges: there is none. */
static uint32_t edge_to(const struct replayer *r, uint32_t from, uint32_t target)
{
	const struct path_node *node = &r->flow->nodes[from];
	uint32_t edge = node->first;

	while (edge < node->first + node->count && r->flow->edges[edge] != target)
		edge++;
	return edge < node->first + node->count ? edge : (uint32_t)r->flow->edge_count;
}

/* Is the node no block's own, but one that stands behind a decision? */
static bool is_extra(const struct replayer *r, uint32_t node)
{
	const uint32_t block = node == PATH_EXIT ? 0 : r->program->graph.block_of[node];

	return node != PATH_EXIT &&
	       (block == PATH_NO_BLOCK || r->program->graph.node_of[block] != node);
}

/* Control goes on to `target`, in the same function, straight or through an extra node. */
static bool go_on(struct replayer *r, uint32_t target)
{
	const uint32_t from = r->frames[r->depth - 1].place.node;
	const struct path_node *node = &r->flow->nodes[from];
	const uint32_t none = (uint32_t)r->flow->edge_count;
	uint32_t edge = edge_to(r, from, target);

	if (edge != none) {
		follow(r, edge);
		return true;
	}
	for (edge = node->first; edge < node->first + node->count; edge++) {
		const uint32_t between = r->flow->edges[edge];

		if (!is_extra(r, between) || edge_to(r, between, target) == none)
			continue;
		follow(r, edge);
		follow(r, edge_to(r, between, target));
		return true;
	}
	return false;
}

/* A way out of the node that calls `callee` under a condition; the number of edges: none. */
static uint32_t edge_to_call(const struct replayer *r, const struct path_node *node,
			     uint32_t callee)
{
	for (uint32_t edge = node->first; edge < node->first + node->count; edge++) {
		const uint32_t target = r->flow->edges[edge];

		if (is_extra(r, target) && r->program->graph.block_of[target] != PATH_NO_BLOCK &&
		    r->flow->nodes[target].callee == callee)
			return edge;
	}
	return (uint32_t)r->flow->edge_count;
}

/* A call or a jump of the last frame's node enters `function`. */
static bool call(struct replayer *r, uint32_t function)
{
	struct frame *frame = &r->frames[r->depth - 1];
	const struct path_node *node = &r->flow->nodes[frame->place.node];

	if (frame->called)
		return false;
	if (node->callee != function) {
		const uint32_t edge = edge_to_call(r, node, function);

		if (edge == (uint32_t)r->flow->edge_count)
			return false;
		follow(r, edge);
		frame = &r->frames[r->depth - 1];
	}
	frame->called = true;
	enter(r, function, true);
	return true;
}

/* So does something that the graph does not name: a pointer, code that is not here, an event. */
static void call_unknown(struct replayer *r, uint32_t function)
{
	if (r->depth) {
		const uint32_t node = r->frames[r->depth - 1].place.node;
		const uint32_t edge = edge_to_call(r, &r->flow->nodes[node], PATH_UNKNOWN);

		if (edge != (uint32_t)r->flow->edge_count)
			follow(r, edge);
	}
	enter(r, function, false);
}

/* Control has come to a place that nothing leads to: the activations above that of its function
 * have ended. */
static void break_to(struct replayer *r, uint32_t block)
{
	const uint32_t function = r->program->graph.function_of[block];
	size_t at = r->depth;

	while (at && r->frames[at - 1].function != function)
		at--;
	if (!at) {
		r->replay->outside++;
		return;
	}
	while (r->depth > at) {
		struct frame *frame = &r->frames[--r->depth];

		r->replay->cut++;
		if (frame->part)
			continue;
		add_token(r, frame->function, PATH_LEAVES, frame->place.id);
		r->step_count = frame->first_step;
	}
	/* with what it is a part of */
	for (size_t i = at; i-- > 0;) {
		r->frames[i].broken = true;
		if (!r->frames[i].part)
			break;
	}
	r->frames[at - 1].place = (struct path_place){r->program->graph.node_of[block], 0};
	r->frames[at - 1].called = false;
	add_step(r, r->program->graph.node_of[block]);
}

static bool may_leave(const struct replayer *r, uint32_t node)
{
	return edge_to(r, node, PATH_EXIT) != (uint32_t)r->flow->edge_count;
}

static bool returns_or_jumps(const struct replayer *r, uint32_t node)
{
	const uint32_t block = r->program->graph.block_of[node];
	const unsigned ends =
		block == PATH_NO_BLOCK ? LITIFUT_ENDS_JUMP : r->program->image->blocks[block].ends;

	return ends == LITIFUT_ENDS_RETURN || ends == LITIFUT_ENDS_JUMP;
}

/* An activation of which the beginning is not known. */
static void begin_within(struct replayer *r, uint32_t block)
{
	const uint32_t function = r->program->graph.function_of[block];

	r->replay->outside++;
	POST_GROW(r->frames, r->depth, r->frame_capacity);
	r->frames[r->depth++] = (struct frame){.function = function,
					       .place = {r->program->graph.node_of[block], 0},
					       .first_step = r->step_count,
					       .broken = true};
	add_step(r, r->program->graph.node_of[block]);
}

/* Nothing that was open is known to be open. */
static void forget(struct replayer *r)
{
	r->replay->open += r->depth;
	r->depth = 0;
	r->step_count = 0;
}

static void step(struct replayer *r, uint32_t block)
{
	const uint32_t function = r->program->graph.function_of[block];
	const bool enters = r->program->graph.first_block[function] == block;

	while (r->depth) {
		const struct frame *frame = &r->frames[r->depth - 1];
		const uint32_t node = frame->place.node;

		if (enters && call(r, function))
			return;
		if (frame->function == function && go_on(r, r->program->graph.node_of[block]))
			return;
		/* by a pointer, from code that is not here, or between two instructions; behind
		 * a tail call that has been made the function is left */
		if (enters && !returns_or_jumps(r, node) && !(frame->called && may_leave(r, node)))
			break;
		if (!may_leave(r, node)) {
			if (enters)
				break;
			break_to(r, block);
			return;
		}
		follow(r, edge_to(r, node, PATH_EXIT));
	}
	if (enters)
		call_unknown(r, function);
	else
		begin_within(r, block);
}

void path_replay_run(const struct path_program *program, struct path_flow *flow,
		     const struct path_numbers *numbers, const struct path_executed *executed,
		     struct path_replay *replay)
{
	struct replayer r = {
		.program = program, .flow = flow, .numbers = numbers, .replay = replay};

	*replay = (struct path_replay){
		.activations = post_allocate(flow->function_count + 1, sizeof(uint64_t)),
		.decisions = post_allocate(flow->function_count + 1, sizeof(uint64_t)),
	};
	for (size_t lane = 0; lane < executed->lane_count; lane++) {
		for (size_t i = 0; i < executed->lanes[lane].count; i++) {
			const uint32_t block = executed->lanes[lane].blocks[i];

			if (block == PATH_NO_BLOCK)
				forget(&r);
			else
				step(&r, block);
		}
		forget(&r);
	}
	free(r.frames);
	free(r.steps);
	free(r.decoded);
}

void path_replay_release(struct path_replay *replay)
{
	free(replay->tokens);
	free(replay->branches);
	free(replay->activations);
	free(replay->decisions);
	*replay = (struct path_replay){0};
}
