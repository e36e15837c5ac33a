#include "rewriter/spawning.h"

#include <stdlib.h>

#include "platform/platform.h"
#include "rewriter/sites.h"

/* What stays the same while the blocks of an image are looked at. */
struct search {
	const struct litifut_session *session;
	const struct litifut_graph *graph;
	struct litifut_spawners makers;
	struct litifut_spawners confiners;
	struct litifut_arrivals arrivals;
	struct litifut_function_facts facts;
	uint32_t function; /* that they are of; 0: none */
};

static bool is_named(const struct litifut_image *image, uint32_t symbol)
{
	return litifut_spawners_is_named(image, symbol, platform_linux.process_makers) ||
	       litifut_spawners_is_named(image, symbol, platform_linux.confiners);
}

static bool is_place(const struct search *search, uint32_t address)
{
	return litifut_spawners_has(&search->makers, address) ||
	       litifut_spawners_has(&search->confiners, address);
}

/* The end of a block leads through a register. */
static bool leads_by_register(struct search *search, const struct litifut_graph_block *block)
{
	const struct litifut_session *session = search->session;
	const struct litifut_arch_thunks *arch = session->arch->thunks;
	const struct litifut_image *image = &session->image;
	const struct litifut_section *section = &image->sections[block->section];
	const struct litifut_symbol *function = &image->symbols[block->function - 1];
	const struct litifut_cramped_call call = {
		.address = block->block.branch,
		.instruction = {.class = LITIFUT_CLASS_CALL_INDIRECT, .length = 4},
		.tail = block->block.ends == LITIFUT_ENDS_JUMP,
		.section = section,
		.function_start = function->address,
		.function_end = litifut_image_function_end(image, function),
	};
	uint32_t callee;

	if (!arch || !arch->known_callee)
		return false;
	if (block->function != search->function) {
		search->function = block->function;
		free(search->facts.branches);
		arch->function_facts(image, &session->context, section, call.function_start,
				     call.function_end, &search->facts);
	}
	callee = arch->known_callee(image, &session->context, &call, &search->facts,
				    &search->arrivals);
	return LITIFUT_CALLEE_IS_SYMBOL(callee) ? is_named(image, LITIFUT_CALLEE_SYMBOL_OF(callee))
						: is_place(search, callee);
}

static bool spawns(struct search *search, const struct litifut_graph_block *block)
{
	if (block->block.ends == LITIFUT_ENDS_ON)
		return false;
	if (block->block.target)
		return is_place(search, block->block.target);
	return (block->block.ends == LITIFUT_ENDS_CALL || block->block.ends == LITIFUT_ENDS_JUMP) &&
	       leads_by_register(search, block);
}

enum litifut_status litifut_spawning_find(const struct litifut_session *session,
					  struct litifut_graph *graph, uint8_t *left,
					  struct litifut_error *error)
{
	const struct litifut_image *image = &session->image;
	struct search search = {.session = session, .graph = graph};
	enum litifut_status status = LITIFUT_OK;

	litifut_spawners_named(image, &session->arch->cpu->linkage, platform_linux.process_makers,
			       false, &search.makers);
	litifut_spawners_named(image, &session->arch->cpu->linkage, platform_linux.confiners, false,
			       &search.confiners);
	if (!search.makers.used && !search.confiners.used)
		return LITIFUT_OK;
	if (session->arch->thunks)
		status = litifut_arrivals_create(image, session->arch, &session->context,
						 &graph->targets, &search.arrivals, error);
	for (size_t i = 0; i < graph->count && !status; i++) {
		struct litifut_graph_block *block = &graph->items[i];

		left[i] |= litifut_spawners_has(&search.makers,
						image->symbols[block->function - 1].address);
		block->spawns = spawns(&search, block);
	}
	free(search.facts.branches);
	litifut_arrivals_release(&search.arrivals);
	return status;
}
