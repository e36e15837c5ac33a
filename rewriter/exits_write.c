/* The code of return points, once it is known which of them are patched. */
#include "rewriter/exits.h"

#include <string.h>

#include "rewriter/changes.h"
#include "rewriter/exit_branches.h"
#include "rewriter/frames.h"
#include "rewriter/rooms.h"
#include "rewriter/session.h"
#include "rewriter/unwind.h"

/* Of the room for the thunk that records returns, of which there may be several, where a
 * branch does not reach far. */
#define THUNK_BYTES_MAX 128

struct writer {
	struct litifut_session *session;
	struct litifut_rooms *rooms;
	struct litifut_frames *frames;
	struct litifut_unwind *unwind;
	struct litifut_changes *changes;
	uint32_t thunks[2][2];        /* by `slow` and `own_room`: the last one made; 0: none */
	struct litifut_targets moved; /* what has moved with return points */
};

static enum litifut_status no_room(const struct writer *writer, struct litifut_error *error)
{
	return litifut_error_set(error, LITIFUT_ERROR_SPACE, writer->session->image.path, ".text",
				 LITIFUT_NO_ADDRESS, "room for the code of returns is not enough");
}

/* Makes the thunk that records returns once more, behind what there is. */
static enum litifut_status make_thunk(struct writer *writer, bool own, bool slow,
				      struct litifut_error *error)
{
	const struct litifut_session *session = writer->session;
	const struct litifut_arch *arch = session->arch;
	const struct litifut_thunk thunk = {
		.kind = LITIFUT_THUNK_EXIT,
		.thumb = true,
		.number = (uint8_t)(own | (slow ? LITIFUT_THUNK_SLOW : 0))};
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
	writer->thunks[slow][own] = frame.bytes ? address | arch->returns->exit_thunk_bit : 0;
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

	for (const struct litifut_exit_branch *each = litifut_exit_branch_first(branches, exit);
	     each; each = litifut_exit_branch_next(branches, each)) {
		if (litifut_exit_branch_is_in(&writer->moved, each))
			continue;
		if (!litifut_exit_branch_lead(session, each, led, bytes)) {
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
	const struct litifut_cramped_call call = litifut_exit_call(&session->image, site);
	const bool slow = litifut_site_has_result(&session->arguments, site->arguments);
	struct litifut_exit_ways ways = {.gate = rooms->items[rooms->own].address,
					 .landings = &session->landings,
					 .exits = &session->exits,
					 .result = slow};
	uint32_t *thunk = &writer->thunks[slow][exit->own_room];
	struct litifut_exit_code code;
	enum litifut_status status = LITIFUT_OK;
	bool done = false;

	for (unsigned tries = 0; tries < 2 && !done && !status; tries++) {
		const struct litifut_room *room = &rooms->items[rooms->own];

		if (!*thunk || tries) {
			status = make_thunk(writer, exit->own_room, slow, error);
			if (status || !*thunk)
				break;
		}
		memset(&code, 0, sizeof(code));
		ways.thunk = *thunk;
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
	if (!writer->session->exits.start) {
		writer->session->exits.start = address;
		writer->session->exits.trampolines_start =
			ways.gate + (uint32_t)LITIFUT_ARCH_GET(session->arch, detour, gate_bytes);
	}
	writer->session->exits.end = address + code.bytes;
	if (exit->has_branches)
		exit->inner_now = code.inner;
	else
		litifut_targets_take(&writer->moved, exit->address, exit->bytes);
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

/* Has the return point that lends it room been patched? */
static bool has_room(const struct writer *writer, const struct litifut_exit *exit)
{
	const struct litifut_session *session = writer->session;
	const struct litifut_exit *items = session->exits.items;

	return !exit->lender ||
	       session->sites.items[items[exit->lender - 1].site].site.exit_reason ==
		       LITIFUT_EXIT_PATCHED;
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

	/* First those that lend room, then those to which branches lead: the others may have such a
	 * branch in them. */
	for (unsigned pass = 0; pass < 3; pass++)
		for (size_t i = 0; i < session->exits.count && !status; i++) {
			struct litifut_exit *exit = &session->exits.items[i];
			struct litifut_found_site *site = &session->sites.items[exit->site];

			if (pass != (exit->lends ? 0 : exit->has_branches ? 1 : 2))
				continue;
			site->site.exit_reason = exit->reason;
			if (exit->reason != LITIFUT_EXIT_PATCHED)
				continue;
			/* It was to be patched, and could not be. */
			if (site->site.reason != LITIFUT_SITE_PATCHED ||
			    rooms->own == rooms->count || !has_room(&writer, exit))
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
