#include "rewriter/exits.h"

#include <stdlib.h>
#include <string.h>

#include "rewriter/changes.h"
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
					       &session->sites.targets));
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
	for (size_t i = 0; i < exits->count && !status; i++) {
		const struct litifut_exit *exit = &exits->items[i];

		if (exit->reason != LITIFUT_EXIT_PATCHED)
			continue;
		take(&session->sites.targets, exit->address, exit->bytes);
		if (exit->stone_bytes)
			take(&session->sites.targets, exit->stone, exit->stone_bytes);
	}
	free(judge.ranges);
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
				 (session->exits.items[i].stone_bytes ? 40 : 0);
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
	uint32_t thunks[2]; /* by `own_room`: the last one made; 0: none */
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

/* The trampoline of one return point; its site says where, or why there is none. */
static enum litifut_status write_exit(struct writer *writer, const struct litifut_exit *exit,
				      struct litifut_error *error)
{
	const struct litifut_session *session = writer->session;
	struct litifut_found_site *site = &writer->session->sites.items[exit->site];
	struct litifut_rooms *rooms = writer->rooms;
	const struct litifut_cramped_call call = litifut_site_cramped(&session->image, site);
	struct litifut_exit_ways ways = {.gate = rooms->items[rooms->own].address,
					 .landings = &session->landings};
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
	memcpy(place, code.code, code.bytes);
	site->site.exit = code.word;
	writer->session->exits.patched++;
	if (!writer->session->exits.start)
		writer->session->exits.start = address;
	writer->session->exits.end = address + code.bytes;
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
	enum litifut_status status = LITIFUT_OK;

	for (size_t i = 0; i < session->exits.count && !status; i++) {
		const struct litifut_exit *exit = &session->exits.items[i];
		struct litifut_found_site *site = &session->sites.items[exit->site];

		site->site.exit_reason = exit->reason;
		if (exit->reason != LITIFUT_EXIT_PATCHED)
			continue;
		/* It was to be patched, and could not be. */
		if (site->site.reason != LITIFUT_SITE_PATCHED || rooms->own == rooms->count)
			site->site.exit_reason = LITIFUT_EXIT_OUT_OF_REACH;
		else
			status = write_exit(&writer, exit, error);
	}
	return status;
}

void litifut_exits_release(struct litifut_exits *exits)
{
	free(exits->items);
	memset(exits, 0, sizeof(*exits));
}
