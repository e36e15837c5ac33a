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
	struct litifut_targets enders;
	struct litifut_arrivals arrivals;
	struct litifut_function_facts facts;
	uint32_t function; /* that they are of; 0: none */
};

/* Where a block may lead to. */
struct lead {
	bool known;
	uint32_t callee; /* as known_callee() has it: an address, or a dynamic symbol */
};

static bool is_named(const struct litifut_image *image, const struct lead *lead,
		     const char *const *names)
{
	return LITIFUT_CALLEE_IS_SYMBOL(lead->callee) &&
	       litifut_spawners_is_named(image, LITIFUT_CALLEE_SYMBOL_OF(lead->callee), names);
}

static bool spawns(const struct search *search, const struct lead *lead)
{
	const struct litifut_image *image = &search->session->image;

	if (!lead->known)
		return false;
	return LITIFUT_CALLEE_IS_SYMBOL(lead->callee)
		       ? is_named(image, lead, platform_linux.process_makers) ||
				 is_named(image, lead, platform_linux.confiners)
		       : litifut_spawners_has(&search->makers, lead->callee) ||
				 litifut_spawners_has(&search->confiners, lead->callee);
}

static bool ends(const struct search *search, const struct lead *lead)
{
	const struct litifut_image *image = &search->session->image;

	if (!lead->known)
		return false;
	return LITIFUT_CALLEE_IS_SYMBOL(lead->callee)
		       ? is_named(image, lead, platform_linux.enders) ||
				 is_named(image, lead, platform_linux.complainers)
		       : litifut_targets_has(&search->enders, lead->callee);
}

/* The end of a block leads through a register. */
static struct lead lead_by_register(struct search *search, const struct litifut_graph_block *block)
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
	struct lead lead = {.known = true};

	if (!arch || !arch->known_callee)
		return (struct lead){.known = false};
	if (block->function != search->function) {
		search->function = block->function;
		free(search->facts.branches);
		arch->function_facts(image, &session->context, section, call.function_start,
				     call.function_end, &search->facts);
	}
	lead.callee = arch->known_callee(image, &session->context, &call, &search->facts,
					 &search->arrivals);
	return lead;
}

static struct lead lead_of(struct search *search, const struct litifut_graph_block *block)
{
	if (block->block.ends == LITIFUT_ENDS_ON)
		return (struct lead){.known = false};
	if (block->block.target)
		return (struct lead){.known = true, .callee = block->block.target & ~1u};
	return block->block.ends == LITIFUT_ENDS_CALL || block->block.ends == LITIFUT_ENDS_JUMP
		       ? lead_by_register(search, block)
		       : (struct lead){.known = false};
}

/* Adds where functions of these names are called. One after the other, as there may be many. */
static bool add_places(const struct litifut_session *session, const char *const *names,
		       struct litifut_targets *targets)
{
	bool used = false;

	for (; *names; names++) {
		const char *const list[] = {*names, NULL};
		struct litifut_spawners found;

		litifut_spawners_named(&session->image, &session->arch->cpu->linkage, list, false,
				       &found);
		used |= found.used;
		for (size_t i = 0; i < LITIFUT_MODULE_SPAWNS && found.places[i]; i++)
			litifut_targets_add(targets, found.places[i] & ~1u);
	}
	return used;
}

enum litifut_status litifut_spawning_find(const struct litifut_session *session,
					  struct litifut_graph *graph, uint8_t *left,
					  struct litifut_error *error)
{
	const struct litifut_image *image = &session->image;
	struct search search = {.session = session, .graph = graph};
	enum litifut_status status =
		litifut_targets_create(image->text_start, image->text_end, &search.enders, error);
	bool used;

	if (status)
		return status;
	used = add_places(session, platform_linux.enders, &search.enders);
	used |= add_places(session, platform_linux.complainers, &search.enders);
	litifut_spawners_named(image, &session->arch->cpu->linkage, platform_linux.process_makers,
			       false, &search.makers);
	litifut_spawners_named(image, &session->arch->cpu->linkage, platform_linux.confiners, false,
			       &search.confiners);
	used |= search.makers.used || search.confiners.used;
	if (session->arch->thunks && used)
		status = litifut_arrivals_create(image, session->arch, &session->context,
						 &graph->targets, &search.arrivals, error);
	for (size_t i = 0; i < graph->count && used && !status; i++) {
		struct litifut_graph_block *block = &graph->items[i];
		const struct lead lead = lead_of(&search, block);

		left[i] |= litifut_spawners_has(&search.makers,
						image->symbols[block->function - 1].address);
		block->spawns = spawns(&search, &lead);
		block->is_last = ends(&search, &lead);
	}
	free(search.facts.branches);
	litifut_arrivals_release(&search.arrivals);
	litifut_targets_release(&search.enders);
	return status;
}
