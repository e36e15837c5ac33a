/* Flags say of conditional branches which ways were gone, and of some blocks that control came
 * there. The rest follows: what is executed goes on to the next block; what comes before a block
 * that was never reached, with no way around, was not executed either. Of a call it is only known
 * that it was made: where no flag says otherwise, it is taken to have returned. */
#include "postproc/measure/coverage.h"

#include <stdlib.h>

#include "postproc/paths/steps_walk.h"
#include "postproc/sources/flags_chunk.h"

static struct post_covered_module *module_of(struct post_coverage *coverage,
					     struct post_session *session, uint32_t number)
{
	struct post_covered_module *module;

	for (size_t i = 0; i < coverage->count; i++)
		if (coverage->modules[i].module == number)
			return &coverage->modules[i];
	POST_GROW(coverage->modules, coverage->count, coverage->capacity);
	module = &coverage->modules[coverage->count++];
	*module = (struct post_covered_module){.module = number,
					       .image = post_session_blocks(session, number)};
	if (!module->image)
		return module;
	module->count = module->image->block_count;
	module->blocks = post_allocate(module->count, sizeof(*module->blocks));
	for (size_t i = 0; i < module->count; i++)
		module->blocks[i].block = module->image->blocks[i];
	return module;
}

struct taking {
	struct post_coverage *coverage;
	struct post_session *session;
	struct post_process *process;
	const struct post_path_code *code; /* of the last step, */
	struct post_covered_module *module;
};

static bool has_flag(const struct post_flags_piece *piece, uint32_t flag)
{
	return flag >= piece->first && flag - piece->first < piece->count &&
	       piece->bytes[flag - piece->first];
}

static void take(void *context, const struct post_flags_piece *piece)
{
	const struct taking *taking = context;
	const struct post_trace *trace = taking->process->trace;

	if (piece->counts)
		return;
	for (size_t i = 0; i < trace->module_count; i++) {
		struct post_covered_module *module;

		if (trace->modules[i].record.serial != piece->module)
			continue;
		module = module_of(taking->coverage, taking->session,
				   post_modules_recorded(taking->session, taking->process,
							 &trace->modules[i].record));
		for (size_t j = 0; j < module->count; j++) {
			struct post_covered_block *block = &module->blocks[j];

			block->entered |= has_flag(piece, block->block.entered);
			block->taken |= has_flag(piece, block->block.taken);
			block->passed |= has_flag(piece, block->block.passed);
		}
		module->send_function = trace->send_function;
		module->send = trace->send;
		return;
	}
}

/* The one block that must follow; POST_NONE: there is none, or it is not known. */
static uint32_t follower(const struct post_covered_module *module,
			 const struct litifut_block *block)
{
	if (block->flags & LITIFUT_BLOCK_CONDITIONAL)
		return POST_NONE;
	switch (block->ends) {
	case LITIFUT_ENDS_ON:
		return post_image_block_start(module->image, block->end);
	case LITIFUT_ENDS_BRANCH:
	case LITIFUT_ENDS_CALL: /* the callee */
		return post_image_block_start(module->image, block->target & ~1u);
	default:
		return POST_NONE;
	}
}

static void state_flags(struct post_covered_module *module)
{
	for (size_t i = 0; i < module->count; i++) {
		struct post_covered_block *block = &module->blocks[i];

		if (post_coverage_is_branch(block))
			block->state =
				block->taken || block->passed ? POST_EXECUTED : POST_NOT_EXECUTED;
		else if (block->block.entered)
			block->state = block->entered ? POST_EXECUTED : POST_NOT_EXECUTED;
	}
}

/* The call that sends the flags is made before its callee sets one: that the callee was not
 * executed says nothing of the call. If no other one can have sent them, it was made. */
static void state_sending(struct post_covered_module *module)
{
	const uint32_t callee =
		module->send_function ? post_image_block_start(module->image, module->send_function)
				      : POST_NONE;
	struct post_covered_block *only = NULL;
	bool others = false, inside = false;

	if (callee == POST_NONE || module->blocks[callee].state != POST_NOT_EXECUTED)
		return;
	for (size_t i = 0; i < module->count; i++) {
		struct post_covered_block *block = &module->blocks[i];
		const uint32_t target = block->block.target & ~1u;

		if (block->block.flags & LITIFUT_BLOCK_FUNCTION)
			inside = i == callee;
		if (block->block.ends != LITIFUT_ENDS_CALL &&
		    block->block.ends != LITIFUT_ENDS_BRANCH)
			continue;
		others |= target == module->send;
		if (inside || target != module->send_function)
			continue;
		block->sends = true;
		others |= only || block->block.flags & LITIFUT_BLOCK_CONDITIONAL;
		only = block;
	}
	if (only && !others && only->state == POST_NOT_KNOWN)
		only->state = POST_EXECUTED;
}

static void state_backward(struct post_covered_module *module)
{
	bool changed = true;

	while (changed) {
		changed = false;
		for (size_t i = module->count; i-- > 0;) {
			struct post_covered_block *block = &module->blocks[i];
			uint32_t next;

			if (block->state != POST_NOT_KNOWN || block->sends)
				continue;
			next = follower(module, &block->block);
			if (next == POST_NONE || module->blocks[next].state != POST_NOT_EXECUTED)
				continue;
			block->state = POST_NOT_EXECUTED;
			changed = true;
		}
	}
}

struct queue {
	struct post_covered_module *module;
	size_t *items;
	size_t count;
};

static void reach(struct queue *queue, uint32_t start)
{
	const uint32_t number = post_image_block_start(queue->module->image, start & ~1u);

	if (number == POST_NONE || queue->module->blocks[number].state != POST_NOT_KNOWN ||
	    queue->module->blocks[number].sends)
		return;
	queue->module->blocks[number].state = POST_EXECUTED;
	queue->items[queue->count++] = number;
}

static void state_forward(struct post_covered_module *module)
{
	struct queue queue = {module, post_allocate(module->count, sizeof(*queue.items)), 0};

	for (size_t i = 0; i < module->count; i++)
		if (module->blocks[i].state == POST_EXECUTED)
			queue.items[queue.count++] = i;
	while (queue.count) {
		const struct post_covered_block *block =
			&module->blocks[queue.items[--queue.count]];
		const uint8_t ends = block->block.ends;

		if (block->block.flags & LITIFUT_BLOCK_CONDITIONAL) {
			if (block->passed)
				reach(&queue, block->block.end);
			if (block->taken && block->block.target)
				reach(&queue, block->block.target);
			/* a call that is made comes back to what is passed to as well */
			if (block->taken && ends == LITIFUT_ENDS_CALL)
				reach(&queue, block->block.end);
			continue;
		}
		if (module->blocks[queue.items[queue.count]].sends)
			continue; /* the callee has not begun */
		if (ends == LITIFUT_ENDS_BRANCH || ends == LITIFUT_ENDS_CALL)
			reach(&queue, block->block.target);
		if (ends == LITIFUT_ENDS_ON || ends == LITIFUT_ENDS_CALL)
			reach(&queue, block->block.end);
	}
	free(queue.items);
}

/* Of a trace of LITIFUT_MODE=paths: what is executed is known, block by block. */
static void take_step(void *context, const struct post_path_step *step)
{
	struct taking *taking = context;
	struct post_covered_module *module = taking->module;
	struct post_covered_block *block;

	if (step->kind == POST_PATH_GAP || step->kind == POST_PATH_POSSIBLE)
		return;
	if (step->code != taking->code) {
		module = module_of(taking->coverage, taking->session, step->code->module);
		taking->code = step->code;
		taking->module = module;
	}
	if (step->block >= module->count)
		return;
	block = &module->blocks[step->block];
	switch (step->kind) {
	case POST_PATH_TAKEN:
		block->times_taken++;
		break;
	case POST_PATH_PASSED:
		block->times_passed++;
		break;
	default:
		block->times++;
		module->walked = true;
		break;
	}
}

static void state_walked(struct post_covered_module *module)
{
	for (size_t i = 0; i < module->count; i++) {
		struct post_covered_block *block = &module->blocks[i];

		block->taken |= block->times_taken > 0;
		block->passed |= block->times_passed > 0;
		block->entered |= block->times > 0;
		if (block->entered)
			block->state = POST_EXECUTED;
		else if (!(block->block.flags & LITIFUT_BLOCK_LEFT))
			block->state = POST_NOT_EXECUTED;
	}
}

void post_coverage_collect(struct post_session *session, struct post_coverage *coverage)
{
	struct post_path_codes codes = {0};
	struct post_path_totals totals = {0};

	*coverage = (struct post_coverage){0};
	for (size_t i = 0; i < session->process_count; i++) {
		struct taking taking = {
			.coverage = coverage, .session = session, .process = session->processes[i]};

		if (taking.process->trace)
			post_flags_chunks_read(taking.process->trace, take, &taking,
					       session->problems);
		if (taking.process->trace)
			post_steps_walk(session, taking.process, &codes, take_step, &taking,
					&totals);
	}
	post_path_codes_release(&codes);
	for (size_t i = 0; i < coverage->count; i++) {
		if (coverage->modules[i].walked) {
			state_walked(&coverage->modules[i]);
			continue;
		}
		state_flags(&coverage->modules[i]);
		state_sending(&coverage->modules[i]);
		state_backward(&coverage->modules[i]);
		state_forward(&coverage->modules[i]);
	}
	if (!coverage->count && session->process_count)
		post_session_none_says(session, "what code was executed",
				       1u << LITIFUT_MODE_COVERAGE | 1u << LITIFUT_MODE_PATHS,
				       "coverage or paths");
}

bool post_coverage_function(const struct post_covered_module *module, size_t first,
			    struct post_covered_function *function)
{
	*function = (struct post_covered_function){.first = first};
	while (function->first < module->count &&
	       !(module->blocks[function->first].block.flags & LITIFUT_BLOCK_FUNCTION))
		function->first++;
	if (function->first == module->count)
		return false;
	function->end = function->first;
	do {
		const struct post_covered_block *block = &module->blocks[function->end++];

		if (post_coverage_is_branch(block)) {
			function->branches += 2;
			function->ways += block->taken + block->passed;
		}
	} while (function->end < module->count &&
		 !(module->blocks[function->end].block.flags & LITIFUT_BLOCK_FUNCTION));
	return true;
}

void post_coverage_release(struct post_coverage *coverage)
{
	for (size_t i = 0; i < coverage->count; i++)
		free(coverage->modules[i].blocks);
	free(coverage->modules);
	*coverage = (struct post_coverage){0};
}
