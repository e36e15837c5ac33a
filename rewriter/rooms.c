/* The rooms for trampolines: one beside the tracer, one behind each island. */
#include "rewriter/rooms.h"

#include <stdlib.h>
#include <string.h>

static int by_address(const void *left, const void *right)
{
	const struct litifut_room *a = left;
	const struct litifut_room *b = right;

	return a->address < b->address ? -1 : a->address > b->address;
}

bool litifut_room_has(struct litifut_room *room, size_t bytes)
{
	uint64_t capacity;
	uint8_t *grown;

	if (!room->is_measured)
		return room->size - room->used >= bytes;
	if (room->capacity - room->used >= bytes)
		return true;
	capacity = 2 * ((uint64_t)room->used + bytes) + 4096;
	grown = capacity <= UINT32_MAX ? realloc(room->bytes, capacity) : NULL;
	if (!grown)
		return false;
	room->bytes = grown;
	room->capacity = (uint32_t)capacity;
	return true;
}

static enum litifut_status add_room(const struct litifut_session *session, bool measures,
				    struct litifut_rooms *rooms, uint32_t address, uint32_t size,
				    const uint32_t *entries, struct litifut_error *error)
{
	const struct litifut_section *section =
		litifut_image_section_at(&session->image, address, size);
	const uint32_t gate = (uint32_t)LITIFUT_ARCH_GET(session->arch, detour, gate_bytes);
	struct litifut_room *room = &rooms->items[rooms->count];

	if (!measures && (!section || size < gate))
		return LITIFUT_OK;
	*room = (struct litifut_room){
		.address = address,
		.size = size,
		.bytes = measures ? NULL : section->bytes + (address - section->address),
		.is_measured = measures,
	};
	if (!litifut_room_has(room, gate))
		return litifut_error_memory(error, session->image.path);
	room->used = gate;
	memcpy(room->entries, entries, sizeof(room->entries));
	session->arch->detour->write_gate(&session->context, address, entries, room->bytes);
	rooms->count++;
	return LITIFUT_OK;
}

enum litifut_status litifut_rooms_find(const struct litifut_session *session, bool measures,
				       struct litifut_rooms *rooms, struct litifut_error *error)
{
	const struct litifut_landings *landings = &session->landings;
	const struct litifut_arch *arch = session->arch;
	const struct litifut_symbol *own = session->room;
	enum litifut_status status = LITIFUT_OK;

	memset(rooms, 0, sizeof(*rooms));
	rooms->landings = landings;
	rooms->arch = arch;
	rooms->context = &session->context;
	if (!LITIFUT_ARCH_GET(arch, detour, write_detour))
		return LITIFUT_OK;
	rooms->items = calloc(landings->count + 1, sizeof(*rooms->items));
	if (!rooms->items)
		return litifut_error_memory(error, session->image.path);
	if (own)
		status = add_room(session, measures, rooms, own->address, own->size,
				  landings->items[landings->own].entries, error);
	for (size_t i = 0; i < landings->count && !status; i++) {
		const struct litifut_symbol *island = landings->items[i].island;

		if (island && !LITIFUT_ARCH_GET(arch, detour, encode_numbered))
			status = add_room(session, measures, rooms,
					  island->address + (uint32_t)arch->island_bytes,
					  island->size - (uint32_t)arch->island_bytes,
					  landings->items[i].entries, error);
	}
	qsort(rooms->items, rooms->count, sizeof(*rooms->items), by_address);
	while (rooms->own < rooms->count &&
	       (!own || rooms->items[rooms->own].address != own->address))
		rooms->own++;
	return status;
}

void litifut_rooms_release(struct litifut_rooms *rooms)
{
	for (size_t i = 0; i < rooms->count; i++)
		if (rooms->items[i].is_measured)
			free(rooms->items[i].bytes);
	free(rooms->items);
	memset(rooms, 0, sizeof(*rooms));
}

void litifut_rooms_lead_on(const struct litifut_rooms *rooms, struct litifut_room *room)
{
	struct litifut_frame_code frame = {.start = room->address + room->used};

	if (!LITIFUT_ARCH_GET(rooms->arch, detour, write_onward) ||
	    !litifut_room_has(room, LITIFUT_ONWARD_BYTES_MAX))
		return;
	frame.bytes = (uint32_t)rooms->arch->detour->write_onward(
		rooms->context, frame.start, room->entries, room->bytes + room->used);
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
	if (!room || !litifut_room_has(room, size))
		return NULL;
	bytes = room->bytes + room->used;
	*address = room->address + room->used;
	room->used += size;
	return bytes;
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
