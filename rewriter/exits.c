#include "rewriter/exits.h"

#include <stdlib.h>
#include <string.h>

#include "rewriter/changes.h"
#include "rewriter/exit_branches.h"
#include "rewriter/frames.h"
#include "rewriter/rooms.h"
#include "rewriter/session.h"
#include "rewriter/spawners.h"
#include "rewriter/unwind.h"

static enum litifut_status out_of_memory(const struct litifut_session *session,
					 struct litifut_error *error)
{
	return litifut_error_set(error, LITIFUT_ERROR_IO, session->image.path, NULL,
				 LITIFUT_NO_ADDRESS, "out of memory");
}

static void take(struct litifut_targets *set, uint32_t address, uint32_t bytes)
{
	for (uint32_t at = 0; at < bytes; at += 2)
		litifut_targets_add(set, address + at);
}

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

		take(taken, site->site.address - before, site->site.length + before + behind);
		if (site->stone_bytes)
			take(taken, site->stone, site->stone_bytes);
	}
}

/* Both returns of vfork and its kin come to the same place, in two processes. */
static bool makes_child(const struct litifut_session *session,
			const struct litifut_found_site *site)
{
	return site->spawns ||
	       litifut_spawners_has(&session->context.spawners, site->known_callee) ||
	       litifut_spawners_has(&session->context.spawners, site->site.callee);
}

/* What stays the same while the return points of one section, or function, are judged. */
struct judge {
	struct litifut_session *session;
	struct litifut_targets *taken;
	struct litifut_targets moved;  /* of `taken`, what moves with return points */
	struct litifut_targets labels; /* that only its function knows */
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

static void enter_function(struct judge *judge, const struct litifut_found_site *site)
{
	struct litifut_session *session = judge->session;
	const struct litifut_arch *arch = session->arch;
	const struct litifut_cramped_call call = litifut_site_cramped(&session->image, site);

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

static void judge_exit(struct judge *judge, struct litifut_exit *exit)
{
	struct litifut_session *session = judge->session;
	const struct litifut_found_site *site = &session->sites.items[exit->site];
	const struct litifut_cramped_call call = litifut_site_cramped(&session->image, site);
	const struct litifut_exit_place place = {
		.image = &session->image,
		.context = &session->context,
		.call = &call,
		.targets = &session->sites.targets,
		.taken = judge->taken,
		.ranges = judge->ranges,
		.range_count = judge->range_count,
	};

	enter_function(judge, site);
	if (makes_child(session, site))
		exit->reason = LITIFUT_EXIT_SPECIAL;
	else if (!judge->is_known)
		exit->reason = LITIFUT_EXIT_UNKNOWN_CODE;
	else if (exit->address >= call.function_end)
		exit->reason = LITIFUT_EXIT_NO_RETURN;
	else if (litifut_targets_has(&session->sites.targets, exit->address))
		exit->reason = LITIFUT_EXIT_TARGET;
	else
		exit->reason = (uint8_t)session->arch->returns->judge_exit(&place, exit);
	if (exit->reason == LITIFUT_EXIT_PATCHED)
		take(judge->taken, exit->address, exit->bytes);
}

static bool is_in(const struct litifut_targets *set, const struct litifut_exit_branch *branch)
{
	for (uint32_t at = 0; at < branch->length; at += 2)
		if (litifut_targets_has(set, branch->address + at))
			return true;
	return false;
}

static bool lead(const struct litifut_session *session, const struct litifut_exit_branch *branch,
		 uint32_t target, uint8_t *code)
{
	const struct litifut_section *section = &session->image.sections[branch->section];

	memcpy(code, section->bytes + (branch->address - section->address), branch->length);
	return session->arch->returns->lead_branch(&session->context,
						   (enum litifut_code_state)branch->state,
						   branch->address, branch->length, target, code);
}

/* The next one that leads to the same place, or NULL. */
static const struct litifut_exit_branch *next(const struct litifut_exit_branches *branches,
					      const struct litifut_exit_branch *branch)
{
	const struct litifut_exit_branch *each = branch + 1;

	return each < branches->items + branches->count && each->target == branch->target ? each
											  : NULL;
}

static const struct litifut_exit_branch *first_of(const struct litifut_exit_branches *branches,
						  const struct litifut_exit *exit)
{
	return litifut_exit_branches_to(branches, exit->address + exit->inner);
}

/* A stone for the first of them that is short. */
static bool find_shared_stone(struct judge *judge, const struct litifut_exit_branches *branches,
			      struct litifut_exit *exit)
{
	struct litifut_session *session = judge->session;
	const struct litifut_exit_branch *each = first_of(branches, exit);
	struct litifut_cramped_call call = {
		.section = &session->image.sections[session->sites.items[exit->site].section],
	};

	while (each && (each->length != 2 || is_in(&judge->moved, each)))
		each = next(branches, each);
	exit->wants_stone = false;
	if (!each)
		return true;
	call.address = each->address;
	call.instruction = (struct litifut_instruction){
		.length = 2,
		.thumb = true,
		.word = litifut_get16(session->image.big_endian,
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
	const struct litifut_exit_branch *each = first_of(branches, exit);
	uint8_t code[4];

	if (!each)
		return false;
	for (; each; each = next(branches, each))
		if (each->is_call ||
		    (each->address + each->length > exit->address &&
		     each->address < exit->address + exit->bytes) ||
		    (is_in(judge->taken, each) && !is_in(&judge->moved, each)) ||
		    !lead(judge->session, each, exit->led ? exit->led : exit->address, code))
			return false;
	return true;
}

/* Is `led` in the reach of all? */
static bool can_lead_all(const struct judge *judge, const struct litifut_exit_branches *branches,
			 const struct litifut_exit *exit)
{
	uint8_t code[4];

	for (const struct litifut_exit_branch *each = first_of(branches, exit); each;
	     each = next(branches, each))
		if (exit->led && !lead(judge->session, each, exit->led, code))
			return false;
	return true;
}

static void take_branches(const struct litifut_exit_branches *branches,
			  const struct litifut_exit *exit, struct litifut_targets *set)
{
	for (const struct litifut_exit_branch *each = first_of(branches, exit); each;
	     each = next(branches, each))
		take(set, each->address, each->length);
}

/* Those that branches lead to as well. */
static void judge_shared(struct judge *judge, const struct litifut_exit_branches *branches,
			 struct litifut_exit *exit)
{
	struct litifut_session *session = judge->session;
	const struct litifut_found_site *site = &session->sites.items[exit->site];
	const struct litifut_cramped_call call = litifut_site_cramped(&session->image, site);
	const struct litifut_exit_place place = {
		.image = &session->image,
		.context = &session->context,
		.call = &call,
		.targets = &session->sites.targets,
		.labels = &branches->labels,
		.taken = judge->taken,
		.ranges = judge->ranges,
		.range_count = judge->range_count,
	};
	struct litifut_exit judged = *exit;
	const uint8_t reason = (uint8_t)session->arch->returns->judge_exit(&place, &judged);

	if (reason != LITIFUT_EXIT_PATCHED) {
		if (reason != LITIFUT_EXIT_STUCK)
			exit->reason = reason;
		return;
	}
	if (!can_lead(judge, branches, &judged))
		return;
	take(judge->taken, exit->address, judged.bytes);
	take_branches(branches, &judged, judge->taken);
	if (judged.wants_stone && (!find_shared_stone(judge, branches, &judged) ||
				   !can_lead_all(judge, branches, &judged)))
		return;
	*exit = judged;
	exit->reason = LITIFUT_EXIT_PATCHED;
	if (exit->stone_bytes)
		take(judge->taken, exit->stone, exit->stone_bytes);
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
			take(&judge->moved, exits->items[i].address, exits->items[i].bytes);
	for (size_t i = 0; i < exits->count && !status; i++) {
		struct litifut_exit *exit = &exits->items[i];
		const struct litifut_found_site *site = &session->sites.items[exit->site];

		if (exit->reason != LITIFUT_EXIT_TARGET && exit->reason != LITIFUT_EXIT_STUCK)
			continue;
		status = enter_section(judge, site, error);
		if (!status)
			judge_shared(judge, &exits->branches, exit);
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

		if (!exit->wants_stone || exit->reason == LITIFUT_EXIT_PATCHED)
			continue;
		status = enter_section(judge, site, error);
		take(judge->taken, exit->address, 2);
		if (status || !session->arch->detour->find_stone(
				      &session->context, judge->ranges, judge->range_count,
				      &session->sites.targets, judge->taken, &call))
			continue;
		exit->stone = call.stone;
		exit->stone_bytes = (uint8_t)call.stone_bytes;
		exit->bytes = 2;
		exit->reason = LITIFUT_EXIT_PATCHED;
		take(judge->taken, call.stone, call.stone_bytes);
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
			status = out_of_memory(session, error);
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
		take(&session->sites.targets, exit->address, exit->bytes);
		if (exit->stone_bytes)
			take(&session->sites.targets, exit->stone, exit->stone_bytes);
		if (exit->has_branches)
			take_branches(&exits->branches, exit, &session->sites.targets);
	}
	free(judge.ranges);
	litifut_targets_release(&judge.moved);
	litifut_targets_release(&judge.labels);
	litifut_targets_release(&taken);
	return status;
}

/* Of the room for the thunk that records returns, of which there may be several, where a
 * branch does not reach far. */
#define THUNK_BYTES_MAX 128

size_t litifut_exits_bytes(const struct litifut_session *session)
{
	size_t bytes = 0;

	for (size_t i = 0; i < session->exits.count; i++)
		if (session->exits.items[i].reason == LITIFUT_EXIT_PATCHED)
			bytes += session->arch->returns->exit_bytes_max +
				 (session->exits.items[i].stone_bytes ? 40 : 0) +
				 (session->exits.items[i].has_branches
					  ? session->arch->returns->exit_bytes_max + 48
					  : 0);
	return bytes ? bytes + 2 * THUNK_BYTES_MAX * (1 + bytes / 0x10000) : 0;
}

size_t litifut_exits_unwind_entries(const struct litifut_session *session)
{
	size_t count = 0;

	if (!LITIFUT_ARCH_GET(session->arch, frames, unwind))
		return 0;
	for (size_t i = 0; i < session->exits.count; i++)
		count += session->exits.items[i].reason == LITIFUT_EXIT_PATCHED
				 ? 1 + (session->exits.items[i].stone_bytes != 0)
				 : 0;
	return count * session->arch->frames->unwind->call_entries + 2;
}

struct writer {
	struct litifut_session *session;
	struct litifut_rooms *rooms;
	struct litifut_frames *frames;
	struct litifut_unwind *unwind;
	struct litifut_changes *changes;
	uint32_t thunks[2];           /* by `own_room`: the last one made; 0: none */
	struct litifut_targets moved; /* what has moved with return points */
};

static enum litifut_status no_room(const struct writer *writer, struct litifut_error *error)
{
	return litifut_error_set(error, LITIFUT_ERROR_SPACE, writer->session->image.path, ".text",
				 LITIFUT_NO_ADDRESS, "room for the code of returns is not enough");
}

/* Makes the thunk that records returns once more, behind what there is. */
static enum litifut_status make_thunk(struct writer *writer, bool own, struct litifut_error *error)
{
	const struct litifut_session *session = writer->session;
	const struct litifut_arch *arch = session->arch;
	const struct litifut_thunk thunk = {
		.kind = LITIFUT_THUNK_EXIT, .thumb = true, .number = own};
	const struct litifut_room *room = &writer->rooms->items[writer->rooms->own];
	struct litifut_frame_code frame = {0};
	uint8_t code[THUNK_BYTES_MAX];
	uint32_t address;
	uint8_t *place = litifut_rooms_take(writer->rooms, THUNK_BYTES_MAX, &address);

	if (!place)
		return no_room(writer, error);
	frame.start = address;
	frame.bytes =
		arch->thunks->write_thunk(&session->context, &thunk, address, room->entries, code);
	writer->thunks[own] = frame.bytes ? address | arch->returns->exit_thunk_bit : 0;
	memset(place, 0, THUNK_BYTES_MAX);
	memcpy(place, code, frame.bytes);
	if (!frame.bytes)
		return LITIFUT_OK;
	if (arch->thunks->thunk_frame)
		arch->thunks->thunk_frame(&session->context, &thunk, &frame);
	litifut_frames_add(writer->frames, &frame);
	return LITIFUT_OK;
}

static void replace(struct writer *writer, const struct litifut_found_site *site, uint32_t address,
		    const uint8_t *code, unsigned length, uint32_t entry)
{
	litifut_changes_add(writer->changes, address, code, length, entry,
			    site->instruction.thumb ? LITIFUT_CODE_THUMB : LITIFUT_CODE_PLAIN);
}

static void note(struct writer *writer, const struct litifut_frame_code *frame)
{
	if (!frame->bytes)
		return;
	litifut_frames_add(writer->frames, frame);
	litifut_unwind_note(writer->unwind, frame);
}

/* Leads the branches to its code, those that have not moved, past the record. False: one is out of
 * reach. */
static bool lead_branches(struct writer *writer, const struct litifut_exit *exit)
{
	const struct litifut_session *session = writer->session;
	const struct litifut_exit_branches *branches = &session->exits.branches;
	const uint32_t led = exit->led ? exit->led : exit->inner_now;
	const size_t before = writer->changes->count;
	uint8_t bytes[4];

	for (const struct litifut_exit_branch *each = first_of(branches, exit); each;
	     each = next(branches, each)) {
		if (is_in(&writer->moved, each))
			continue;
		if (!lead(session, each, led, bytes)) {
			writer->changes->count = before;
			return false;
		}
		litifut_changes_add(writer->changes, each->address, bytes, each->length, led,
				    (enum litifut_code_state)each->state);
	}
	return true;
}

/* Puts the code back that was there. Branches that have moved go on to its trampoline, behind the
 * record. */
static void undo(struct writer *writer, const struct litifut_exit *exit)
{
	const struct litifut_session *session = writer->session;
	struct litifut_site *site = &session->sites.items[exit->site].site;

	for (size_t i = 0; i < exit->change_count; i++) {
		struct litifut_change *change = &writer->changes->items[exit->first_change + i];
		const struct litifut_section *section =
			litifut_image_section_at(&session->image, change->address, change->length);

		memcpy(change->code, section->bytes + (change->address - section->address),
		       change->length);
		change->entry = 0;
	}
	writer->session->exits.patched--;
	site->exit = 0;
	site->exit_reason = LITIFUT_EXIT_OUT_OF_REACH;
}

uint32_t litifut_exits_led(const struct litifut_exits *exits, uint32_t target)
{
	size_t low = 0;
	size_t high = exits ? exits->count : 0;

	while (low < high) {
		const size_t middle = (low + high) / 2;

		if (exits->items[middle].address <= target)
			low = middle + 1;
		else
			high = middle;
	}
	for (; low && target - exits->items[low - 1].address < LITIFUT_EXIT_BYTES_MAX; low--)
		if (exits->items[low - 1].inner_now &&
		    exits->items[low - 1].address + exits->items[low - 1].inner == target)
			return exits->items[low - 1].inner_now;
	return target;
}

/* The trampoline of one return point; its site says where, or why there is none. */
static enum litifut_status write_exit(struct writer *writer, struct litifut_exit *exit,
				      struct litifut_error *error)
{
	const struct litifut_session *session = writer->session;
	struct litifut_found_site *site = &writer->session->sites.items[exit->site];
	struct litifut_rooms *rooms = writer->rooms;
	const struct litifut_cramped_call call = litifut_site_cramped(&session->image, site);
	struct litifut_exit_ways ways = {.gate = rooms->items[rooms->own].address,
					 .landings = &session->landings,
					 .exits = &session->exits};
	struct litifut_exit_code code;
	enum litifut_status status = LITIFUT_OK;
	bool done = false;

	for (unsigned tries = 0; tries < 2 && !done && !status; tries++) {
		const struct litifut_room *room = &rooms->items[rooms->own];

		if (!writer->thunks[exit->own_room] || tries) {
			status = make_thunk(writer, exit->own_room, error);
			if (status || !writer->thunks[exit->own_room])
				break;
		}
		memset(&code, 0, sizeof(code));
		ways.thunk = writer->thunks[exit->own_room];
		done = session->arch->returns->write_exit(&session->context, &call, exit,
							  room->address + room->used, &ways, &code);
	}
	if (status)
		return status;
	site->site.exit_reason = done ? LITIFUT_EXIT_PATCHED : LITIFUT_EXIT_OUT_OF_REACH;
	if (!done)
		return LITIFUT_OK;

	const uint32_t here = rooms->items[rooms->own].address + rooms->items[rooms->own].used;
	uint32_t address;
	uint8_t *place = litifut_rooms_take(rooms, code.bytes, &address);

	if (!place)
		return no_room(writer, error);
	if (address != here) { /* ways onward have been put in between */
		memset(&code, 0, sizeof(code));
		if (!session->arch->returns->write_exit(&session->context, &call, exit, address,
							&ways, &code)) {
			site->site.exit_reason = LITIFUT_EXIT_OUT_OF_REACH;
			return LITIFUT_OK;
		}
	}
	exit->first_change = writer->changes->count;
	memcpy(place, code.code, code.bytes);
	site->site.exit = code.word;
	writer->session->exits.patched++;
	if (!writer->session->exits.start)
		writer->session->exits.start = address;
	writer->session->exits.end = address + code.bytes;
	if (exit->has_branches)
		exit->inner_now = code.inner;
	else
		take(&writer->moved, exit->address, exit->bytes);
	for (unsigned i = 0; i < code.piece_count; i++)
		replace(writer, site, code.pieces[i].address, code.pieces[i].code,
			code.pieces[i].length, code.pieces[i].entry);
	if (code.detour.stone_bytes) {
		replace(writer, site, code.detour.address, code.detour.code, code.detour.length,
			code.detour.stone + 4);
		replace(writer, site, code.detour.stone, code.detour.stone_code, 4,
			code.detour.stone_trampoline);
		replace(writer, site, code.detour.stone + 4, code.detour.stone_code + 4,
			code.detour.stone_bytes - 4, address);
	} else {
		replace(writer, site, code.detour.address, code.detour.code, code.detour.length,
			code.detour.entry ? code.detour.entry : address);
	}
	exit->change_count = writer->changes->count - exit->first_change;
	note(writer, &code.detour.frames[0]);
	note(writer, &code.detour.frames[1]);
	return LITIFUT_OK;
}

enum litifut_status litifut_exits_write(struct litifut_session *session,
					struct litifut_rooms *rooms, struct litifut_frames *frames,
					struct litifut_unwind *unwind,
					struct litifut_changes *changes,
					struct litifut_error *error)
{
	struct writer writer = {.session = session,
				.rooms = rooms,
				.frames = frames,
				.unwind = unwind,
				.changes = changes};
	enum litifut_status status = litifut_targets_create(
		session->image.text_start, session->image.text_end, &writer.moved, error);

	/* First those to which branches lead: the others may have such a branch in them. */
	for (unsigned pass = 0; pass < 2; pass++)
		for (size_t i = 0; i < session->exits.count && !status; i++) {
			struct litifut_exit *exit = &session->exits.items[i];
			struct litifut_found_site *site = &session->sites.items[exit->site];

			if (exit->has_branches == (pass == 1))
				continue;
			site->site.exit_reason = exit->reason;
			if (exit->reason != LITIFUT_EXIT_PATCHED)
				continue;
			/* It was to be patched, and could not be. */
			if (site->site.reason != LITIFUT_SITE_PATCHED || rooms->own == rooms->count)
				site->site.exit_reason = LITIFUT_EXIT_OUT_OF_REACH;
			else
				status = write_exit(&writer, exit, error);
		}
	for (size_t i = 0; i < session->exits.count && !status; i++)
		if (session->exits.items[i].inner_now &&
		    !lead_branches(&writer, &session->exits.items[i]))
			undo(&writer, &session->exits.items[i]);
	litifut_targets_release(&writer.moved);
	return status;
}

void litifut_exits_release(struct litifut_exits *exits)
{
	free(exits->items);
	litifut_exit_branches_release(&exits->branches);
	memset(exits, 0, sizeof(*exits));
}
