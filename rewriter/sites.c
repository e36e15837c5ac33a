/* Judging the call sites of an image: to be patched, or left for a reason. The walk
 * has found them; here the places that control can come to are known as well. */
#include "rewriter/sites.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "common/parallel.h"
#include "rewriter/code_targets.h"
#include "rewriter/formed.h"
#include "rewriter/landing_pads.h"
#include "rewriter/sort.h"
#include "rewriter/tail.h"
#include "rewriter/walk.h"

/* Sites that one worker looks at in one go. */
#define FACTS_PIECE 2048

/* What stays the same while sites are judged. */
struct judge {
	const struct litifut_image *image;
	const struct litifut_arch *arch;
	const struct litifut_arch_context *context;
	struct litifut_site_list *list;
	const struct litifut_arrivals *arrivals; /* of find_facts() */
};

/* Is this indirect branch a site, one that is left perhaps? */
static bool keep_jump(const struct judge *judge, const struct litifut_targets *data,
		      struct litifut_found_site *site)
{
	const struct litifut_arch_flow *flow = judge->arch->flow;
	const struct litifut_cramped_call call = litifut_site_cramped(judge->image, site);

	if (flow->is_indirect_tail(judge->image, judge->context, &call, data))
		return true;
	if (!flow->may_be_tail || !flow->may_be_tail(judge->image, judge->context, &call))
		return false;
	if (site->site.reason == LITIFUT_SITE_TOO_SHORT)
		site->site.reason = LITIFUT_SITE_PERHAPS_A_SWITCH;
	return true;
}

/* Drops the indirect branches that are not tail calls. */
static void drop_jumps(const struct judge *judge, const struct litifut_targets *data)
{
	struct litifut_site_list *list = judge->list;
	size_t kept = 0;

	for (size_t i = 0; i < list->count; i++) {
		struct litifut_found_site *site = &list->items[i];

		if (site->site.kind == LITIFUT_SITE_TAIL_INDIRECT && !keep_jump(judge, data, site))
			continue;
		if (kept != i)
			list->items[kept] = *site;
		kept++;
	}
	list->count = kept;
}

static void take(struct litifut_targets *taken, uint32_t address, uint32_t bytes)
{
	for (uint32_t at = 0; at < bytes; at += 2)
		litifut_targets_add(taken, address + at);
}

/* A stepping stone in the function of the call, or in those near by. */
static bool find_stone(const struct judge *judge, const struct litifut_code_range *ranges,
		       size_t count, const struct litifut_targets *targets,
		       const struct litifut_targets *taken, struct litifut_cramped_call *call)
{
	const struct litifut_arch_detour *detour = judge->arch->detour;
	const uint32_t reach = detour->stone_reach;
	const struct litifut_symbol *function = NULL;
	bool found = detour->find_stone(judge->context, ranges, count, targets, taken, call);

	if (!found && reach)
		function = litifut_image_function_from(
			judge->image, call->address > reach ? call->address - reach : 0);
	while (function && function->address < call->address + reach && !found) {
		call->function_start = function->address;
		call->function_end = litifut_image_function_end(judge->image, function);
		found = detour->find_stone(judge->context, ranges, count, targets, taken, call);
		function = litifut_image_function_from(judge->image, function->address + 1);
	}
	return found;
}

/* Stepping stones for the calls of one section that could not be moved. */
static enum litifut_status find_stones(const struct judge *judge,
				       const struct litifut_section *section,
				       const struct litifut_targets *targets,
				       struct litifut_targets *taken, struct litifut_error *error)
{
	struct litifut_code_range *ranges = NULL;
	size_t count = 0;
	enum litifut_status status =
		judge->arch->code_ranges(judge->image, section, &ranges, &count, error);

	for (size_t i = 0; i < judge->list->count && !status; i++) {
		struct litifut_found_site *site = &judge->list->items[i];
		struct litifut_cramped_call call;

		if (&judge->image->sections[site->section] != section ||
		    site->site.reason != LITIFUT_SITE_BRANCH_TARGET)
			continue;
		call = litifut_site_cramped(judge->image, site);
		if (!find_stone(judge, ranges, count, targets, taken, &call))
			continue;
		site->stone = call.stone;
		site->stone_bytes = call.stone_bytes & 31;
		site->detour = true;
		site->site.reason = LITIFUT_SITE_PATCHED;
		take(taken, call.stone, call.stone_bytes);
	}
	free(ranges);
	return status;
}

/* The last resort for the calls that could not be moved. */
static enum litifut_status judge_stuck(const struct judge *judge,
				       const struct litifut_targets *targets,
				       struct litifut_error *error)
{
	struct litifut_targets taken;
	const struct litifut_section *section = NULL;
	enum litifut_status status = litifut_targets_create(judge->image->text_start,
							    judge->image->text_end, &taken, error);

	/* The room for trampolines is code as well, and is written to later. */
	for (size_t i = 0; i < judge->image->own_count && !status; i++) {
		const struct litifut_symbol *own = &judge->image->symbols[judge->image->own[i]];

		/* the address of what is in no memory says nothing */
		if (judge->image->sections[own->section].flags & SHF_ALLOC &&
		    litifut_image_section_at(judge->image, own->address, own->size))
			take(&taken, own->address, own->size);
	}
	for (size_t i = 0; i < judge->list->count && !status; i++) {
		const struct litifut_found_site *site = &judge->list->items[i];
		/* With the instruction before, should that move as well. */
		uint32_t before = site->detour && site->site.length == 2 ? site->before[0] : 0;

		take(&taken, site->site.address - before, site->site.length + before);
	}
	for (size_t i = 0; i < judge->list->count && !status; i++) {
		const struct litifut_found_site *site = &judge->list->items[i];

		if (site->site.reason != LITIFUT_SITE_BRANCH_TARGET ||
		    &judge->image->sections[site->section] == section)
			continue;
		section =
			&judge->image->sections[site->section]; /* all of this section's at once */
		status = find_stones(judge, section, targets, &taken, error);
	}
	litifut_targets_release(&taken);
	return status;
}

/* What thunks need of the code around the calls. Neighbours mostly share their function. */
static void find_facts(void *context, size_t worker, size_t piece)
{
	const struct judge *judge = context;
	const struct litifut_arch *arch = judge->arch;
	uint32_t function = 0;
	struct litifut_function_facts facts = {0};
	size_t end = (piece + 1) * FACTS_PIECE;

	(void)worker;
	if (end > judge->list->count)
		end = judge->list->count;
	for (size_t i = piece * FACTS_PIECE; i < end; i++) {
		struct litifut_found_site *site = &judge->list->items[i];

		if (site->site.reason != LITIFUT_SITE_PATCHED || !site->function)
			continue;
		const struct litifut_cramped_call call = litifut_site_cramped(judge->image, site);

		if (site->function != function) {
			function = site->function;
			free(facts.branches);
			arch->thunks->function_facts(judge->image, judge->context, call.section,
						     call.function_start, call.function_end,
						     &facts);
		}
		site->argument_room = facts.argument_room;
		site->known_callee = arch->thunks->known_callee(judge->image, judge->context, &call,
								&facts, judge->arrivals);
		if (LITIFUT_CALLEE_IS_SYMBOL(site->known_callee)) {
			const uint32_t symbol = LITIFUT_CALLEE_SYMBOL_OF(site->known_callee);

			site->spawns = litifut_spawners_is_symbol(judge->image, symbol);
			site->ends = litifut_spawners_is_ender(judge->image, symbol);
			/* see litifut_site_arguments_find() */
			if (!judge->context->symbols)
				site->known_callee = 0;
			continue;
		}
		if (!site->site.callee)
			site->site.callee = site->known_callee;
	}
	free(facts.branches);
}

enum litifut_status litifut_arrivals_create(const struct litifut_image *image,
					    const struct litifut_arch *arch,
					    const struct litifut_arch_context *context,
					    const struct litifut_targets *all,
					    struct litifut_arrivals *arrivals,
					    struct litifut_error *error)
{
	enum litifut_status status;

	*arrivals = (struct litifut_arrivals){.all = all};
	status = litifut_targets_create(image->text_start, image->text_end, &arrivals->data, error);
	if (!status)
		status = litifut_targets_create(image->text_start, image->text_end,
						&arrivals->elsewhere, error);
	if (status)
		return status;
	litifut_targets_add_pointers(&arrivals->data, image, &context->pointers);
	if (context->offset_base)
		litifut_targets_add_offsets(&arrivals->data, image, &context->pointers,
					    context->offset_base);
	litifut_landing_pads_add(image, arch, &arrivals->elsewhere);
	if (arch->thunks->add_elsewhere)
		arch->thunks->add_elsewhere(image, context, &arrivals->elsewhere);
	return litifut_formed_labels(image, arch, context, &arrivals->elsewhere, NULL, error);
}

void litifut_arrivals_release(struct litifut_arrivals *arrivals)
{
	litifut_targets_release(&arrivals->data);
	litifut_targets_release(&arrivals->elsewhere);
}

static enum litifut_status find_all_facts(struct judge judge, struct litifut_error *error)
{
	struct litifut_arrivals arrivals;
	enum litifut_status status = litifut_arrivals_create(
		judge.image, judge.arch, judge.context, &judge.list->targets, &arrivals, error);

	judge.arrivals = &arrivals;
	if (!status)
		litifut_parallel((judge.list->count + FACTS_PIECE - 1) / FACTS_PIECE, find_facts,
				 &judge);
	litifut_arrivals_release(&arrivals);
	return status;
}

/* What only the branch targets tell: which of the calls without room can go
 * through a trampoline? */
static enum litifut_status judge_cramped(const struct judge *judge,
					 const struct litifut_targets *branches,
					 struct litifut_error *error)
{
	struct litifut_targets *targets = &judge->list->targets;
	enum litifut_status status =
		litifut_targets_of_data(judge->image, judge->context, targets, error);
	size_t stuck = 0;

	if (!status) {
		drop_jumps(judge, targets);
		litifut_targets_merge(targets, branches);
		litifut_landing_pads_add(judge->image, judge->arch, targets);
		status = litifut_formed_add(judge->image, judge->arch, judge->context, targets,
					    error);
	}
	for (size_t i = 0; i < judge->list->count && !status; i++) {
		struct litifut_found_site *site = &judge->list->items[i];
		struct litifut_cramped_call call;

		if (site->site.reason != LITIFUT_SITE_TOO_SHORT)
			continue;
		call = litifut_site_cramped(judge->image, site);
		/* Code that jumps to the branch alone has set the link register itself. */
		if (site->instruction.linked == LITIFUT_LINKED_SAME &&
		    !litifut_targets_has(targets, site->site.address)) {
			site->site.reason = LITIFUT_SITE_PATCHED;
			continue;
		}
		site->detour = judge->arch->detour->can_detour(judge->context, &call, targets);
		site->site.reason =
			site->detour ? LITIFUT_SITE_PATCHED : LITIFUT_SITE_BRANCH_TARGET;
		if (!site->detour && (site->instruction.class == LITIFUT_CLASS_BRANCH_COMPUTED ||
				      site->instruction.class == LITIFUT_CLASS_CALL_COMPUTED))
			site->site.reason = LITIFUT_SITE_SPECIAL_FORM;
		stuck += site->site.reason == LITIFUT_SITE_BRANCH_TARGET;
	}
	if (stuck && !status && LITIFUT_ARCH_GET(judge->arch, detour, find_stone))
		status = judge_stuck(judge, targets, error);
	if (!status && (judge->context->thunks || judge->context->symbols) &&
	    LITIFUT_ARCH_GET(judge->arch, thunks, known_callee))
		status = find_all_facts(*judge, error);
	return status;
}

static uint32_t address_of(const void *item)
{
	return ((const struct litifut_found_site *)item)->site.address;
}

enum litifut_status litifut_sites_find(struct litifut_image *image, const struct litifut_arch *arch,
				       const struct litifut_arch_context *context,
				       const struct litifut_rewrite_options *options,
				       struct litifut_site_list *list, struct litifut_error *error)
{
	const struct judge judge = {image, arch, context, list, NULL};
	struct litifut_walk walk;
	enum litifut_status status;

	memset(list, 0, sizeof(*list));
	if (!image->symbol_count)
		return litifut_error_set(error, LITIFUT_ERROR_MISSING, image->path, NULL,
					 LITIFUT_NO_ADDRESS,
					 "stripped: no symbol table to find the code by");
	status = litifut_walk(image, arch, context, options, &walk, error);
	*list = walk.list;
	if (!status && LITIFUT_ARCH_GET(arch, detour, can_detour) &&
	    (walk.needs_targets || context->returns ||
	     (LITIFUT_ARCH_GET(arch, thunks, known_callee) &&
	      (context->thunks || context->symbols))))
		status = judge_cramped(&judge, &walk.branches, error);
	litifut_walk_release(&walk);
	/* Sections mostly stand in the order of their numbers. */
	if (!status)
		status = litifut_sort_runs(list->items, list->count, sizeof(*list->items),
					   address_of, error);
	if (status)
		litifut_sites_release(list);
	return status;
}

enum litifut_status litifut_sites_add(struct litifut_site_list *list, const char *path,
				      const struct litifut_found_site *items, size_t count,
				      struct litifut_error *error)
{
	struct litifut_found_site *grown =
		realloc(list->items, (list->count + count + 1) * sizeof(*grown));

	if (!grown)
		return litifut_error_memory(error, path);
	list->items = grown;
	list->capacity = list->count + count + 1;
	memcpy(grown + list->count, items, count * sizeof(*items));
	list->count += count;
	return litifut_sort_runs(list->items, list->count, sizeof(*list->items), address_of, error);
}

void litifut_sites_release(struct litifut_site_list *list)
{
	for (size_t i = 0; i < list->range_count; i++)
		free(list->ranges[i].items);
	free(list->ranges);
	free(list->items);
	litifut_targets_release(&list->targets);
	memset(list, 0, sizeof(*list));
}
