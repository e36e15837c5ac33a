/* Writing trampolines, each into the best room for its call. */
#include "rewriter/trampolines.h"

#include <string.h>

#include "rewriter/counts.h"

/* What litifut_trampoline_add() is about. */
struct addition {
	struct litifut_rooms *rooms;
	const struct litifut_session *session;
	struct litifut_thunks *thunks;
	struct litifut_relays *relays;
	struct litifut_cramped_call call;
	struct litifut_thunk wanted;
	struct litifut_detour *detour;
	bool full;
};

/* The gate for the trampoline in `room`, with the thunk if there is one. That may be written into
 * `room` now, so the place of the trampoline is known afterwards. */
static struct litifut_gate gate_of(struct addition *addition, struct litifut_room *room)
{
	struct litifut_gate gate = {room->address, room->entries, 0};

	if (addition->wanted.kind == LITIFUT_THUNK_ENTRY)
		gate.thunk = room->entries[addition->wanted.number];
	else if (addition->wanted.kind != LITIFUT_THUNK_NONE)
		gate.thunk = litifut_thunks_in_room(addition->thunks, room, &addition->wanted,
						    &addition->full);
	return gate;
}

/* As litifut_trampoline_add() for one room. */
static uint32_t add_to(struct addition *addition, struct litifut_room *room)
{
	const struct litifut_session *session = addition->session;
	struct litifut_detour *detour = addition->detour;
	struct litifut_gate gate = gate_of(addition, room);
	uint32_t address = room->address + room->used;
	uint8_t code[256];
	bool done = false;

	for (unsigned tries = gate.thunk ? 2 : 1; tries && !done && !addition->full; tries--) {
		*detour = (struct litifut_detour){.thunk = gate.thunk != 0};
		done = session->arch->detour->write_detour(&session->context, &addition->call,
							   address, &gate, code, detour);
		gate.thunk = 0; /* the thunk may be, or may lead, too far */
	}
	if (!done)
		return 0;
	if (!litifut_room_has(room, detour->trampoline_bytes)) {
		addition->full = true;
		return 0;
	}
	memcpy(room->bytes + room->used, code, detour->trampoline_bytes);
	room->used += detour->trampoline_bytes;
	return address;
}

/* The trampoline goes beside the tracer, and the site says which it is. */
static uint32_t add_numbered(struct addition *addition)
{
	struct litifut_rooms *rooms = addition->rooms;
	const struct litifut_session *session = addition->session;
	struct litifut_room *room = &rooms->items[rooms->own];
	struct litifut_gate gate = gate_of(addition, room);
	size_t count = rooms->landings->count;
	uint32_t trampoline = room->address + room->used;
	uint8_t *bytes;

	if (!litifut_room_has(room, session->arch->detour->trampoline_bytes_max)) {
		addition->full = true;
		return 0;
	}
	bytes = room->bytes + room->used;
	for (unsigned tries = gate.thunk ? 2 : 1; tries; tries--) {
		for (size_t i = 0; i < 2 * count; i++) {
			const struct litifut_landing *landing = &rooms->landings->items[i % count];

			*addition->detour = (struct litifut_detour){.thunk = gate.thunk != 0};
			if (i % count == rooms->landings->own || landing->spare != (i >= count) ||
			    !session->arch->detour->encode_numbered(
				    &session->context, &addition->call, trampoline, &gate,
				    landing->entries, bytes, addition->detour))
				continue;
			room->used += addition->detour->trampoline_bytes;
			return trampoline;
		}
		gate.thunk = 0; /* it may lead too far */
	}
	return 0;
}

/* The same over a branch of its own in code near the site. */
static uint32_t add_stepped(struct addition *addition, const struct litifut_found_site *site)
{
	struct litifut_rooms *rooms = addition->rooms;
	const struct litifut_session *session = addition->session;
	struct litifut_room *room = &rooms->items[rooms->own];
	struct litifut_gate gate = gate_of(addition, room);
	uint32_t trampoline = room->address + room->used;
	uint32_t entries[LITIFUT_ENTRIES_MAX]; /* the relay may bring others for what follows */
	size_t bytes = session->arch->detour->trampoline_bytes_max;
	uint32_t step;
	bool done = false;

	if (addition->full || !litifut_room_has(room, bytes)) {
		addition->full = true;
		return 0;
	}
	memcpy(entries, room->entries, sizeof(entries));
	gate.entries = entries;
	room->used += (uint32_t)bytes;
	step = litifut_relays_step(addition->relays, site, trampoline, &addition->full);
	for (unsigned tries = gate.thunk ? 2 : 1; step && tries && !done; tries--) {
		*addition->detour = (struct litifut_detour){.thunk = gate.thunk != 0};
		done = session->arch->borrow->write_step(
			&session->context, &addition->call, trampoline, &gate, step,
			room->bytes + (trampoline - room->address), addition->detour);
		gate.thunk = 0; /* it may lead too far */
	}
	return done ? trampoline : 0;
}

uint32_t litifut_trampoline_add(const struct litifut_places *places,
				const struct litifut_session *session,
				const struct litifut_found_site *site,
				struct litifut_detour *detour, bool *full)
{
	struct litifut_rooms *rooms = places->rooms;
	struct addition addition = {
		.rooms = rooms,
		.session = session,
		.thunks = places->thunks,
		.relays = places->relays,
		.call = litifut_site_cramped(&session->image, site),
		.detour = detour,
	};
	bool has_own = rooms->own < rooms->count;
	uint32_t address = 0;

	if (places->thunks)
		addition.wanted = litifut_counts_thunk(session, &addition.call);
	if (has_own)
		litifut_rooms_lead_on(rooms, &rooms->items[rooms->own]);
	/* From there it is not far to the tracer. */
	if (has_own)
		address = add_to(&addition, &rooms->items[rooms->own]);
	if (!address && !addition.full &&
	    LITIFUT_ARCH_GET(session->arch, detour, encode_numbered)) {
		address = has_own ? add_numbered(&addition) : 0;
		if (!address && !addition.full && has_own && places->relays &&
		    litifut_relays_may_step(session, site))
			address = add_stepped(&addition, site);
	} else if (!address && !addition.full) {
		size_t near = litifut_rooms_nearest(rooms, site->site.address);

		/* The two neighbours are the nearest. */
		for (size_t i = near ? near - 1 : 0; i < rooms->count && i <= near && !address; i++)
			address = add_to(&addition, &rooms->items[i]);
	}
	*full = addition.full;
	return address;
}
