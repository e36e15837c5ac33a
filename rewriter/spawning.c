#include "rewriter/spawning.h"

#include <stdlib.h>

#include "platform/platform.h"
#include "rewriter/sites.h"

/* Functions with certain names, and where the image has or calls them. */
struct group {
	const char *const *lists[2]; /* of names; NULL: there is no second one */
	struct litifut_targets places;
	bool used;
};

/* What stays the same while the blocks of an image are looked at. */
struct search {
	const struct litifut_session *session;
	const struct litifut_graph *graph;
	struct group makers;
	struct group confiners;
	struct group enders;
	struct litifut_arrivals arrivals;
	struct litifut_function_facts facts;
	uint32_t function; /* that they are of; 0: none */
};

/* Release `group->places` on failure as well. */
static enum litifut_status find_group(const struct litifut_session *session, struct group *group,
				      struct litifut_error *error)
{
	const struct litifut_image *image = &session->image;
	const enum litifut_status status =
		litifut_targets_create(image->text_start, image->text_end, &group->places, error);

	for (size_t list = 0; list < 2 && group->lists[list] && !status; list++)
		for (const char *const *name = group->lists[list]; *name; name++) {
			/* struct litifut_spawners has room for the places of a few names only */
			const char *const names[] = {*name, NULL};
			struct litifut_spawners found;

			litifut_spawners_named(image, &session->arch->cpu->linkage, names, false,
					       &found);
			group->used |= found.used;
			for (size_t i = 0; i < LITIFUT_MODULE_SPAWNS && found.places[i]; i++)
				litifut_targets_add(&group->places, found.places[i]);
		}
	return status;
}

/* `callee` as known_callee() has it: an address, a dynamic symbol, or 0. */
static bool leads_to(const struct search *search, uint32_t callee, const struct group *group)
{
	if (!LITIFUT_CALLEE_IS_SYMBOL(callee))
		return litifut_targets_has(&group->places, callee);
	for (size_t list = 0; list < 2 && group->lists[list]; list++)
		if (litifut_spawners_is_named(&search->session->image,
					      LITIFUT_CALLEE_SYMBOL_OF(callee), group->lists[list]))
			return true;
	return false;
}

/* The end of a block leads through a register. */
static uint32_t callee_by_register(struct search *search, const struct litifut_graph_block *block)
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

	if (!arch || !arch->known_callee)
		return 0;
	if (block->function != search->function) {
		search->function = block->function;
		free(search->facts.branches);
		arch->function_facts(image, &session->context, section, call.function_start,
				     call.function_end, &search->facts);
	}
	return arch->known_callee(image, &session->context, &call, &search->facts,
				  &search->arrivals);
}

/* Where the block leads to at its end; 0: that is not known, or just to the next block. */
static uint32_t callee_of(struct search *search, const struct litifut_graph_block *block)
{
	if (block->block.ends == LITIFUT_ENDS_ON)
		return 0;
	if (block->block.target)
		return block->block.target & ~1u; /* with the Thumb bit it would be a symbol */
	return block->block.ends == LITIFUT_ENDS_CALL || block->block.ends == LITIFUT_ENDS_JUMP
		       ? callee_by_register(search, block)
		       : 0;
}

enum litifut_status litifut_spawning_find(const struct litifut_session *session,
					  struct litifut_graph *graph, uint8_t *left,
					  struct litifut_error *error)
{
	const struct litifut_image *image = &session->image;
	struct search search = {
		.session = session,
		.graph = graph,
		.makers.lists = {platform_linux.process_makers},
		.confiners.lists = {platform_linux.confiners},
		.enders.lists = {platform_linux.enders, platform_linux.complainers},
	};
	struct group *const groups[] = {&search.makers, &search.confiners, &search.enders};
	enum litifut_status status = LITIFUT_OK;
	bool used = false;

	for (size_t i = 0; i < 3 && !status; i++) {
		status = find_group(session, groups[i], error);
		used |= groups[i]->used;
	}
	if (session->arch->thunks && used && !status)
		status = litifut_arrivals_create(image, session->arch, &session->context,
						 &graph->targets, &search.arrivals, error);
	for (size_t i = 0; i < graph->count && used && !status; i++) {
		struct litifut_graph_block *block = &graph->items[i];
		const uint32_t callee = callee_of(&search, block);

		left[i] |= litifut_targets_has(&search.makers.places,
					       image->symbols[block->function - 1].address);
		block->spawns = leads_to(&search, callee, &search.makers) ||
				leads_to(&search, callee, &search.confiners);
		block->is_last = leads_to(&search, callee, &search.enders);
	}
	free(search.facts.branches);
	litifut_arrivals_release(&search.arrivals);
	for (size_t i = 0; i < 3; i++)
		litifut_targets_release(&groups[i]->places);
	return status;
}
