/* Choosing the returns that are recorded. Their code is written by exits_write.c. */
#include "rewriter/exits.h"

#include <stdlib.h>
#include <string.h>

#include "rewriter/exit_branches.h"
#include "rewriter/session.h"
#include "rewriter/spawners.h"

static bool returns(const struct litifut_found_site *site)
{
	return site->site.reason == LITIFUT_SITE_PATCHED && !litifut_site_is_tail(&site->site) &&
	       site->site.kind != LITIFUT_SITE_FUNCTION;
}

/* What the sites change. */
static void take_sites(const struct litifut_session *session, struct litifut_targets *taken)
{
	for (size_t i = 0; i < session->sites.count; i++) {
		const struct litifut_found_site *site = &session->sites.items[i];
		uint32_t before = site->detour && site->site.length == 2 ? site->before[0] : 0;
		uint32_t behind = session->arch->returns->slot_bytes;

		litifut_targets_take(taken, site->site.address - before,
				     site->site.length + before + behind);
		if (site->stone_bytes)
			litifut_targets_take(taken, site->stone, site->stone_bytes);
	}
}

/* Does the recorder treat the call specially? Both returns of vfork and its like come to the same
 * place, in two processes; others end the program. */
static bool is_special(const struct litifut_session *session, const struct litifut_found_site *site)
{
	return site->spawns ||
	       litifut_spawners_has(&session->context.spawners, site->known_callee) ||
	       litifut_spawners_has(&session->context.spawners, site->site.callee);
}

static bool ends_program(const struct litifut_session *session,
			 const struct litifut_found_site *site)
{
	return site->ends ||
	       litifut_spawners_ends(&session->context.spawners, site->known_callee) ||
	       litifut_spawners_ends(&session->context.spawners, site->site.callee);
}

/* What stays the same while the return points of one section, or function, are judged. */
struct judge {
	struct litifut_session *session;
	struct litifut_targets *taken;
	struct litifut_targets moved;  /* of `taken`, what moves with return points */
	struct litifut_targets labels; /* of its own function only */
	uint16_t section;
	struct litifut_code_range *ranges;
	size_t range_count;
	uint32_t function;
	bool is_known;
};

static enum litifut_status enter_section(struct judge *judge, const struct litifut_found_site *site,
					 struct litifut_error *error)
{
	const struct litifut_session *session = judge->session;

	if (judge->ranges && judge->section == site->section)
		return LITIFUT_OK;
	free(judge->ranges);
	judge->ranges = NULL;
	judge->section = site->section;
	return session->arch->code_ranges(&session->image, &session->image.sections[site->section],
					  &judge->ranges, &judge->range_count, error);
}

struct litifut_cramped_call litifut_exit_call(const struct litifut_image *image,
					      const struct litifut_found_site *site)
{
	struct litifut_cramped_call call = litifut_site_cramped(image, site);

	if (site->function)
		call.function_end =
			litifut_image_function_end(image, &image->symbols[site->function - 1]);
	return call;
}

static void enter_function(struct judge *judge, const struct litifut_found_site *site)
{
	struct litifut_session *session = judge->session;
	const struct litifut_arch *arch = session->arch;
	const struct litifut_cramped_call call = litifut_exit_call(&session->image, site);

	if (judge->function == site->function && site->function)
		return;
	judge->function = site->function;
	judge->is_known =
		site->function && call.function_end > call.function_start &&
		call.function_start >= call.section->address &&
		call.function_end - call.section->address <= call.section->size &&
		(!arch->returns->knows_function ||
		 arch->returns->knows_function(&session->image, &session->context, call.section,
					       call.function_start, call.function_end,
					       &session->sites.targets, &judge->labels));
}

/* `labels`: see struct litifut_exit_place. */
static struct litifut_exit_place place_of(const struct judge *judge,
					  const struct litifut_cramped_call *call,
					  const struct litifut_targets *labels)
{
	return (struct litifut_exit_place){
		.image = &judge->session->image,
		.context = &judge->session->context,
		.call = call,
		.targets = &judge->session->sites.targets,
		.labels = labels,
		.taken = judge->taken,
		.ranges = judge->ranges,
		.range_count = judge->range_count,
	};
}

static void judge_exit(struct judge *judge, struct litifut_exit *exit)
{
	struct litifut_session *session = judge->session;
	const struct litifut_found_site *site = &session->sites.items[exit->site];
	const struct litifut_cramped_call call = litifut_exit_call(&session->image, site);
	const struct litifut_exit_place place = place_of(judge, &call, NULL);

	enter_function(judge, site);
	if (is_special(session, site))
		exit->reason =
			ends_program(session, site) ? LITIFUT_EXIT_ENDS : LITIFUT_EXIT_SPECIAL;
	else if (!judge->is_known)
		exit->reason = LITIFUT_EXIT_UNKNOWN_CODE;
	else if (exit->address >= call.function_end)
		exit->reason = LITIFUT_EXIT_NO_RETURN;
	else if (litifut_targets_has(&session->sites.targets, exit->address))
		exit->reason = LITIFUT_EXIT_TARGET;
	else
		exit->reason = (uint8_t)session->arch->returns->judge_exit(&place, exit);
	if (exit->reason == LITIFUT_EXIT_PATCHED)
		litifut_targets_take(judge->taken, exit->address, exit->bytes);
}

/* A stone for the first of them that is short. */
static bool find_shared_stone(struct judge *judge, const struct litifut_exit_branches *branches,
			      struct litifut_exit *exit)
{
	struct litifut_session *session = judge->session;
	const struct litifut_exit_branch *each = litifut_exit_branch_first(branches, exit);
	struct litifut_cramped_call call = {
		.section = &session->image.sections[session->sites.items[exit->site].section],
	};

	while (each && (each->length != 2 || litifut_exit_branch_is_in(&judge->moved, each)))
		each = litifut_exit_branch_next(branches, each);
	exit->wants_stone = false;
	if (!each)
		return true;
	call.address = each->address;
	call.instruction = (struct litifut_instruction){
		.length = 2,
		.thumb = true,
		.word = litifut_get16(session->image.file.big_endian,
				      call.section->bytes +
					      (each->address - call.section->address))};
	if (call.section != &session->image.sections[each->section] ||
	    !session->arch->detour->find_stone(&session->context, judge->ranges, judge->range_count,
					       &session->sites.targets, judge->taken, &call))
		return false;
	exit->stone = call.stone;
	exit->stone_bytes = (uint8_t)call.stone_bytes;
	exit->led = call.stone + 4;
	return true;
}

/* Can each branch that leads to the code of the return point be led past its record? It stays
 * where it is, or moves with another return point to which no branches lead. */
static bool can_lead(const struct judge *judge, const struct litifut_exit_branches *branches,
		     const struct litifut_exit *exit)
{
	const struct litifut_exit_branch *each = litifut_exit_branch_first(branches, exit);
	uint8_t code[4];

	if (!each)
		return false;
	for (; each; each = litifut_exit_branch_next(branches, each))
		if (each->is_call ||
		    (each->address + each->length > exit->address &&
		     each->address < exit->address + exit->bytes) ||
		    (litifut_exit_branch_is_in(judge->taken, each) &&
		     !litifut_exit_branch_is_in(&judge->moved, each)) ||
		    !litifut_exit_branch_lead(judge->session, each,
					      exit->led ? exit->led : exit->address, code))
			return false;
	return true;
}

/* Is `led` in the reach of all? */
static bool can_lead_all(const struct judge *judge, const struct litifut_exit_branches *branches,
			 const struct litifut_exit *exit)
{
	uint8_t code[4];

	for (const struct litifut_exit_branch *each = litifut_exit_branch_first(branches, exit);
	     each; each = litifut_exit_branch_next(branches, each))
		if (exit->led && !litifut_exit_branch_lead(judge->session, each, exit->led, code))
			return false;
	return true;
}

static void take_branches(const struct litifut_exit_branches *branches,
			  const struct litifut_exit *exit, struct litifut_targets *set)
{
	for (const struct litifut_exit_branch *each = litifut_exit_branch_first(branches, exit);
	     each; each = litifut_exit_branch_next(branches, each))
		litifut_targets_take(set, each->address, each->length);
}

/* So many return points before one, and as many behind it, are asked for room. */
#define LENDERS 256

/* Finds another return point that has room for what branches are led to. */
static bool find_lender(struct judge *judge, const struct litifut_exit_branches *branches,
			size_t index, struct litifut_exit *exit)
{
	struct litifut_session *session = judge->session;
	const struct litifut_exits *exits = &session->exits;

	for (size_t i = 2; i < 2 * LENDERS; i++) {
		const size_t other = i & 1 ? index + i / 2 : index - i / 2;
		struct litifut_exit lender;
		struct litifut_cramped_call call;
		struct litifut_exit_place place;

		if (other >= exits->count || exits->items[other].lends ||
		    exits->items[other].has_branches ||
		    exits->items[other].reason != LITIFUT_EXIT_PATCHED)
			continue;
		lender = exits->items[other];
		call = litifut_exit_call(&session->image, &session->sites.items[lender.site]);
		place = place_of(judge, &call, NULL);
		if (!session->arch->returns->can_lend(&place, &lender, &exit->led) ||
		    !can_lead(judge, branches, exit))
			continue;
		lender.lends = true;
		exits->items[other] = lender;
		exit->lender = other + 1;
		litifut_targets_take(judge->taken, lender.address, lender.bytes);
		return true;
	}
	return false;
}

/* Judges a return point that branches lead to as well. Where it has no room for the place that
 * these are led to, another return point may lend some. */
static void judge_shared(struct judge *judge, const struct litifut_exit_branches *branches,
			 size_t index)
{
	struct litifut_session *session = judge->session;
	struct litifut_exit *exit = &session->exits.items[index];
	const struct litifut_arch_returns *arch = session->arch->returns;
	const struct litifut_found_site *site = &session->sites.items[exit->site];
	const struct litifut_cramped_call call = litifut_exit_call(&session->image, site);
	struct litifut_exit_place place = place_of(judge, &call, &branches->labels);
	struct litifut_exit judged = *exit;
	const uint8_t reason = (uint8_t)arch->judge_exit(&place, &judged);

	if (reason != LITIFUT_EXIT_PATCHED && reason != LITIFUT_EXIT_STUCK) {
		exit->reason = reason;
		return;
	}
	if (reason != LITIFUT_EXIT_PATCHED || !can_lead(judge, branches, &judged)) {
		judged = *exit;
		place.borrows = true;
		if (!arch->can_lend || arch->judge_exit(&place, &judged) != LITIFUT_EXIT_PATCHED ||
		    !find_lender(judge, branches, index, &judged))
			return;
	}
	litifut_targets_take(judge->taken, exit->address, judged.bytes);
	take_branches(branches, &judged, judge->taken);
	if (judged.wants_stone && (!find_shared_stone(judge, branches, &judged) ||
				   !can_lead_all(judge, branches, &judged)))
		return;
	*exit = judged;
	exit->reason = LITIFUT_EXIT_PATCHED;
	if (exit->stone_bytes)
		litifut_targets_take(judge->taken, exit->stone, exit->stone_bytes);
}

static enum litifut_status judge_all_shared(struct judge *judge, struct litifut_error *error)
{
	struct litifut_session *session = judge->session;
	struct litifut_exits *exits = &session->exits;
	enum litifut_status status = litifut_exit_branches_find(session, &exits->branches, error);

	if (!status)
		status = litifut_targets_create(session->image.text_start, session->image.text_end,
						&judge->moved, error);
	if (!status)
		litifut_targets_merge(&exits->branches.labels, &judge->labels);
	for (size_t i = 0; i < exits->count && !status; i++)
		if (exits->items[i].reason == LITIFUT_EXIT_PATCHED)
			litifut_targets_take(&judge->moved, exits->items[i].address,
					     exits->items[i].bytes);
	for (size_t i = 0; i < exits->count && !status; i++) {
		struct litifut_exit *exit = &exits->items[i];
		const struct litifut_found_site *site = &session->sites.items[exit->site];

		if (exit->reason != LITIFUT_EXIT_TARGET && exit->reason != LITIFUT_EXIT_STUCK)
			continue;
		status = enter_section(judge, site, error);
		if (!status)
			judge_shared(judge, &exits->branches, i);
	}
	return status;
}

/* Those that have room for a short branch only. */
static enum litifut_status find_stones(struct judge *judge, struct litifut_error *error)
{
	struct litifut_session *session = judge->session;
	struct litifut_exits *exits = &session->exits;
	enum litifut_status status = LITIFUT_OK;

	for (size_t i = 0; i < exits->count && !status; i++) {
		struct litifut_exit *exit = &exits->items[i];
		const struct litifut_found_site *site = &session->sites.items[exit->site];
		struct litifut_cramped_call call = {
			.address = exit->address,
			.instruction = {.length = 2, .thumb = true},
			.section = &session->image.sections[site->section],
		};

		/* it may make room for another one by now */
		if (!exit->wants_stone || exit->reason == LITIFUT_EXIT_PATCHED ||
		    litifut_targets_has(judge->taken, exit->address))
			continue;
		status = enter_section(judge, site, error);
		litifut_targets_take(judge->taken, exit->address, 2);
		if (status || !session->arch->detour->find_stone(
				      &session->context, judge->ranges, judge->range_count,
				      &session->sites.targets, judge->taken, &call))
			continue;
		exit->stone = call.stone;
		exit->stone_bytes = (uint8_t)call.stone_bytes;
		exit->bytes = 2;
		exit->reason = LITIFUT_EXIT_PATCHED;
		litifut_targets_take(judge->taken, call.stone, call.stone_bytes);
	}
	return status;
}

enum litifut_status litifut_exits_find(struct litifut_session *session, struct litifut_error *error)
{
	struct litifut_exits *exits = &session->exits;
	struct litifut_targets taken;
	struct judge judge = {.session = session, .taken = &taken};
	enum litifut_status status = litifut_targets_create(session->image.text_start,
							    session->image.text_end, &taken, error);

	if (!status) {
		exits->items = calloc(session->sites.count + 1, sizeof(*exits->items));
		if (!exits->items)
			status = litifut_error_memory(error, session->image.path);
	}
	if (!status)
		status = litifut_targets_create(session->image.text_start, session->image.text_end,
						&judge.labels, error);
	if (!status)
		take_sites(session, &taken);
	for (size_t i = 0; i < session->sites.count && !status; i++) {
		const struct litifut_found_site *site = &session->sites.items[i];
		struct litifut_exit *exit = &exits->items[exits->count];

		if (!returns(site))
			continue;
		exit->site = i;
		exit->address =
			site->site.address + site->site.length + session->arch->returns->slot_bytes;
		exits->count++;
		status = enter_section(&judge, site, error);
		if (!status)
			judge_exit(&judge, exit);
	}
	if (!status && LITIFUT_ARCH_GET(session->arch, detour, find_stone))
		status = find_stones(&judge, error);
	if (!status && session->arch->returns->lead_branch)
		status = judge_all_shared(&judge, error);
	for (size_t i = 0; i < exits->count && !status; i++) {
		const struct litifut_exit *exit = &exits->items[i];

		if (exit->reason != LITIFUT_EXIT_PATCHED)
			continue;
		litifut_targets_take(&session->sites.targets, exit->address, exit->bytes);
		if (exit->stone_bytes)
			litifut_targets_take(&session->sites.targets, exit->stone,
					     exit->stone_bytes);
		if (exit->has_branches)
			take_branches(&exits->branches, exit, &session->sites.targets);
	}
	free(judge.ranges);
	litifut_targets_release(&judge.moved);
	litifut_targets_release(&judge.labels);
	litifut_targets_release(&taken);
	return status;
}

void litifut_exits_release(struct litifut_exits *exits)
{
	free(exits->items);
	litifut_exit_branches_release(&exits->branches);
	memset(exits, 0, sizeof(*exits));
}
