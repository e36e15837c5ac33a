#include "rewriter/callees.h"

#include <stdlib.h>

#include "rewriter/sites.h"

/* A call or a jump to a function, as the instruction shows. */
static bool is_shown(const struct litifut_graph *graph, const struct litifut_block *block)
{
	const struct litifut_graph_block *target = litifut_graph_at(graph, block->target);

	return target && target->block.flags & LITIFUT_BLOCK_FUNCTION &&
	       !(block->flags & LITIFUT_BLOCK_CONDITIONAL);
}

enum litifut_status litifut_callees_find(const struct litifut_session *session,
					 struct litifut_graph *graph, bool shown,
					 struct litifut_error *error)
{
	const struct litifut_arch_thunks *arch = session->arch->thunks;
	const struct litifut_image *image = &session->image;
	struct litifut_arch_context context = session->context;
	struct litifut_function_facts facts = {0};
	struct litifut_arrivals arrivals = {0};
	enum litifut_status status = LITIFUT_OK;
	uint32_t function = 0; /* that the facts are of; 0: none */

	if (!arch || !arch->known_callee)
		return LITIFUT_OK;
	context.symbols = true;
	status = litifut_arrivals_create(image, session->arch, &session->context, &graph->targets,
					 &arrivals, error);
	for (size_t i = 0; i < graph->count && !status; i++) {
		struct litifut_graph_block *block = &graph->items[i];
		const struct litifut_symbol *symbol = &image->symbols[block->function - 1];
		const struct litifut_cramped_call call = {
			.address = block->block.branch,
			.instruction = {.class = LITIFUT_CLASS_CALL_INDIRECT, .length = 4},
			.tail = block->block.ends == LITIFUT_ENDS_JUMP,
			.section = &image->sections[block->section],
			.function_start = symbol->address,
			.function_end = litifut_image_function_end(image, symbol),
		};

		const uint32_t target = block->block.target;
		uint32_t callee;

		if (target ? !shown || !is_shown(graph, &block->block)
			   : block->block.ends != LITIFUT_ENDS_CALL && !call.tail)
			continue;
		if (block->function != function) {
			function = block->function;
			free(facts.branches);
			arch->function_facts(image, &context, call.section, call.function_start,
					     call.function_end, &facts);
		}
		callee = arch->known_callee(image, &context, &call, &facts, &arrivals);
		if (!target || callee == target)
			block->callee = callee;
	}
	free(facts.branches);
	litifut_arrivals_release(&arrivals);
	return status;
}

const struct litifut_graph_block *litifut_callee_of(const struct litifut_graph *graph,
						    const struct litifut_graph_block *block)
{
	const struct litifut_graph_block *callee;

	if (block->block.ends != LITIFUT_ENDS_CALL)
		return NULL;
	if (block->block.target)
		return litifut_graph_at(graph, block->block.target & ~1u);
	if (!block->callee || LITIFUT_CALLEE_IS_SYMBOL(block->callee))
		return NULL;
	callee = litifut_graph_at(graph, block->callee);
	return callee && callee->block.flags & LITIFUT_BLOCK_FUNCTION ? callee : NULL;
}

void litifut_called_release(struct litifut_called *called)
{
	free(called->words);
	*called = (struct litifut_called){0};
}
