#include "rewriter/callees.h"

#include <stdlib.h>

#include "rewriter/code_targets.h"

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

static void find_of_sites(const struct litifut_image *image, const struct litifut_arch_thunks *arch,
			  const struct litifut_arch_context *context,
			  const struct litifut_site_list *sites,
			  const struct litifut_arrivals *arrivals, uint32_t *callees)
{
	struct litifut_function_facts facts = {0};
	uint32_t function = 0;

	for (size_t i = 0; i < sites->count; i++) {
		const struct litifut_found_site *site = &sites->items[i];
		const struct litifut_cramped_call call = litifut_site_cramped(image, site);

		if (!site->function)
			continue;
		if (site->function != function) {
			function = site->function;
			free(facts.branches);
			arch->function_facts(image, context, call.section, call.function_start,
					     call.function_end, &facts);
		}
		callees[i] = arch->known_callee(image, context, &call, &facts, arrivals);
	}
	free(facts.branches);
}

enum litifut_status litifut_callees_of_sites(const struct litifut_image *image,
					     const struct litifut_arch *arch,
					     const struct litifut_arch_context *context,
					     const struct litifut_site_list *sites,
					     uint32_t **callees, struct litifut_error *error)
{
	const struct litifut_targets *all = &sites->targets;
	struct litifut_targets made = {0};
	struct litifut_arrivals arrivals = {0};
	enum litifut_status status = LITIFUT_OK;

	*callees = NULL;
	if (!LITIFUT_ARCH_GET(arch, thunks, known_callee))
		return LITIFUT_OK;
	if (!all->bits) {
		all = &made;
		status = litifut_targets_of_all(image, arch, context, &made, error);
	}
	if (!status)
		status = litifut_arrivals_create(image, arch, context, all, &arrivals, error);
	if (!status)
		*callees = calloc(sites->count + 1, sizeof(**callees));
	if (!status && !*callees)
		status = litifut_error_memory(error, image->path);
	if (!status)
		find_of_sites(image, arch->thunks, context, sites, &arrivals, *callees);
	litifut_arrivals_release(&arrivals);
	litifut_targets_release(&made);
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
