/* The rooms for trampolines: one beside the tracer, one behind each island. */
#include "rewriter/rooms.h"

#include "rewriter/relays.h"
#include "rewriter/thunks.h"

#include <stdlib.h>
#include <string.h>

static int by_address(const void *left, const void *right)
{
	const struct litifut_room *a = left;
	const struct litifut_room *b = right;

	return a->address < b->address ? -1 : a->address > b->address;
}

static void add_room(const struct litifut_image *image, const struct litifut_arch *arch,
		     const struct litifut_arch_context *context, struct litifut_rooms *rooms,
		     uint32_t address, uint32_t size, const uint32_t *entries)
{
	const struct litifut_section *section = litifut_image_section_at(image, address, size);

	if (!section || size < arch->gate_bytes)
		return;
	struct litifut_room *room = &rooms->items[rooms->count++];

	*room = (struct litifut_room){
		.address = address,
		.used = (uint32_t)arch->gate_bytes,
		.size = size,
		.bytes = section->bytes + (address - section->address),
	};
	memcpy(room->entries, entries, sizeof(room->entries));
	arch->write_gate(context, address, entries, room->bytes);
}

enum litifut_status litifut_rooms_find(const struct litifut_image *image,
				       const struct litifut_arch *arch,
				       const struct litifut_arch_context *context,
				       const struct litifut_landings *landings,
				       struct litifut_rooms *rooms, struct litifut_error *error)
{
	const struct litifut_symbol *own = litifut_image_symbol(image, LITIFUT_TRAMPOLINES);

	memset(rooms, 0, sizeof(*rooms));
	rooms->landings = landings;
	rooms->arch = arch;
	rooms->context = context;
	if (!arch->write_detour)
		return LITIFUT_OK;
	rooms->items = calloc(landings->count + 1, sizeof(*rooms->items));
	if (!rooms->items)
		return litifut_error_set(error, LITIFUT_ERROR_IO, image->path, NULL,
					 LITIFUT_NO_ADDRESS, "out of memory");
	if (own)
		add_room(image, arch, context, rooms, own->address, own->size,
			 landings->items[landings->own].entries);
	for (size_t i = 0; i < landings->count; i++) {
		const struct litifut_symbol *island = landings->items[i].island;

		if (island && !arch->encode_numbered)
			add_room(image, arch, context, rooms,
				 island->address + (uint32_t)arch->island_bytes,
				 island->size - (uint32_t)arch->island_bytes,
				 landings->items[i].entries);
	}
	qsort(rooms->items, rooms->count, sizeof(*rooms->items), by_address);
	while (rooms->own < rooms->count &&
	       (!own || rooms->items[rooms->own].address != own->address))
		rooms->own++;
	return LITIFUT_OK;
}

void litifut_rooms_release(struct litifut_rooms *rooms)
{
	free(rooms->items);
	memset(rooms, 0, sizeof(*rooms));
}

/* What litifut_rooms_add() is about. */
struct addition {
	struct litifut_rooms *rooms;
	const struct litifut_session *session;
	struct litifut_thunks *thunks;
	struct litifut_cramped_call call;
	struct litifut_thunk wanted;
	struct litifut_detour *detour;
	bool full;
};

/* The gate for the trampoline in `room`, with the thunk if there is one. */
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

/* As litifut_rooms_add() for one room. */
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
		done = session->arch->write_detour(&session->context, &addition->call, address,
						   &gate, code, detour);
		gate.thunk = 0; /* the thunk may be, or may lead, too far */
	}
	if (!done)
		return 0;
	if (detour->trampoline_bytes > room->size - room->used) {
		addition->full = true;
		return 0;
	}
	memcpy(room->bytes + room->used, code, detour->trampoline_bytes);
	room->used += detour->trampoline_bytes;
	return address;
}

void litifut_rooms_lead_on(const struct litifut_rooms *rooms, struct litifut_room *room)
{
	struct litifut_frame_code frame = {.start = room->address + room->used};

	if (!rooms->arch->write_onward || room->size - room->used < LITIFUT_ONWARD_BYTES_MAX)
		return;
	frame.bytes = (uint32_t)rooms->arch->write_onward(rooms->context, frame.start,
							  room->entries, room->bytes + room->used);
	room->used += frame.bytes;
	if (frame.bytes && rooms->frames)
		litifut_frames_add(rooms->frames, &frame);
}

uint8_t *litifut_rooms_take(struct litifut_rooms *rooms, uint32_t size, uint32_t *address)
{
	struct litifut_room *room = rooms->own < rooms->count ? &rooms->items[rooms->own] : NULL;
	uint8_t *bytes;

	if (room)
		litifut_rooms_lead_on(rooms, room);
	if (!room || room->size - room->used < size)
		return NULL;
	bytes = room->bytes + room->used;
	*address = room->address + room->used;
	room->used += size;
	return bytes;
}

/* The trampoline goes beside the tracer, and the site says which it is. */
static uint32_t add_numbered(struct addition *addition)
{
	struct litifut_rooms *rooms = addition->rooms;
	const struct litifut_session *session = addition->session;
	struct litifut_room *room = &rooms->items[rooms->own];
	uint32_t trampoline = room->address + room->used;
	uint8_t *bytes = room->bytes + room->used;
	struct litifut_gate gate = gate_of(addition, room);
	size_t count = rooms->landings->count;

	if (session->arch->trampoline_bytes_max > room->size - room->used) {
		addition->full = true;
		return 0;
	}
	for (unsigned tries = gate.thunk ? 2 : 1; tries; tries--) {
		for (size_t i = 0; i < 2 * count; i++) {
			const struct litifut_landing *landing = &rooms->landings->items[i % count];

			*addition->detour = (struct litifut_detour){.thunk = gate.thunk != 0};
			if (i % count == rooms->landings->own || landing->spare != (i >= count) ||
			    !session->arch->encode_numbered(&session->context, &addition->call,
							    trampoline, &gate, landing->entries,
							    bytes, addition->detour))
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
	struct litifut_gate gate = gate_of(addition, room); /* may write a thunk */
	uint32_t trampoline = room->address + room->used;
	uint32_t entries[LITIFUT_ENTRIES_MAX]; /* the relay may bring others for what follows */
	size_t bytes = session->arch->trampoline_bytes_max;
	uint32_t step;
	bool done = false;

	if (addition->full || bytes > room->size - room->used) {
		addition->full = true;
		return 0;
	}
	memcpy(entries, room->entries, sizeof(entries));
	gate.entries = entries;
	room->used += (uint32_t)bytes;
	step = litifut_relays_step(rooms->relays, site, trampoline, &addition->full);
	for (unsigned tries = gate.thunk ? 2 : 1; step && tries && !done; tries--) {
		*addition->detour = (struct litifut_detour){.thunk = gate.thunk != 0};
		done = session->arch->write_step(
			&session->context, &addition->call, trampoline, &gate, step,
			room->bytes + (trampoline - room->address), addition->detour);
		gate.thunk = 0; /* it may lead too far */
	}
	return done ? trampoline : 0;
}

size_t litifut_rooms_nearest(const struct litifut_rooms *rooms, uint32_t address)
{
	size_t low = 0;
	size_t high = rooms->count;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (rooms->items[middle].address < address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

uint32_t litifut_rooms_add(struct litifut_rooms *rooms, const struct litifut_session *session,
			   struct litifut_thunks *thunks, const struct litifut_found_site *site,
			   struct litifut_detour *detour, bool *full)
{
	struct addition addition = {
		.rooms = rooms,
		.session = session,
		.thunks = thunks,
		.call = litifut_site_cramped(&session->image, site),
		.detour = detour,
	};
	bool has_own = rooms->own < rooms->count;
	uint32_t address = 0;

	if (thunks)
		addition.wanted = litifut_session_thunk(session, &addition.call);
	if (has_own)
		litifut_rooms_lead_on(rooms, &rooms->items[rooms->own]);
	/* From there it is not far to the tracer. */
	if (has_own)
		address = add_to(&addition, &rooms->items[rooms->own]);
	if (!address && !addition.full && session->arch->encode_numbered) {
		address = has_own ? add_numbered(&addition) : 0;
		if (!address && !addition.full && has_own && rooms->relays &&
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
