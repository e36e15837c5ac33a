#include "rewriter/spawning.h"

#include "platform/platform.h"
#include "rewriter/spawners.h"

/* Functions with certain names, and where the image has or calls them. */
struct group {
	const char *const *lists[2]; /* of names; NULL: there is no second one */
	struct litifut_targets places;
	bool used;
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
static bool leads_to(const struct litifut_image *image, uint32_t callee, const struct group *group)
{
	if (!LITIFUT_CALLEE_IS_SYMBOL(callee))
		return litifut_targets_has(&group->places, callee);
	for (size_t list = 0; list < 2 && group->lists[list]; list++)
		if (litifut_spawners_is_named(image, LITIFUT_CALLEE_SYMBOL_OF(callee),
					      group->lists[list]))
			return true;
	return false;
}

/* Where the block leads to at its end; 0: that is not known, or just to the next block. */
static uint32_t callee_of(const struct litifut_graph_block *block)
{
	if (block->block.ends == LITIFUT_ENDS_ON)
		return 0;
	/* with the Thumb bit it would be a symbol */
	return block->block.target ? block->block.target & ~1u : block->callee;
}

enum litifut_status litifut_spawning_find(const struct litifut_session *session,
					  struct litifut_graph *graph, uint8_t *left,
					  struct litifut_error *error)
{
	const struct litifut_image *image = &session->image;
	struct group makers = {.lists = {platform_linux.process_makers}};
	struct group confiners = {.lists = {platform_linux.confiners}};
	struct group enders = {.lists = {platform_linux.enders, platform_linux.complainers}};
	struct group *const groups[] = {&makers, &confiners, &enders};
	enum litifut_status status = LITIFUT_OK;
	bool used = false;

	for (size_t i = 0; i < 3 && !status; i++) {
		status = find_group(session, groups[i], error);
		used |= groups[i]->used;
	}
	for (size_t i = 0; i < graph->count && used && !status; i++) {
		struct litifut_graph_block *block = &graph->items[i];
		const uint32_t callee = callee_of(block);

		left[i] |= litifut_targets_has(&makers.places,
					       image->symbols[block->function - 1].address);
		block->spawns =
			leads_to(image, callee, &makers) || leads_to(image, callee, &confiners);
		block->is_last = leads_to(image, callee, &enders);
	}
	for (size_t i = 0; i < 3; i++)
		litifut_targets_release(&groups[i]->places);
	return status;
}
