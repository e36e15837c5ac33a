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

static void add_room(const struct litifut_image *image, const struct litifut_arch *arch,
		     const struct litifut_arch_context *context, struct litifut_rooms *rooms,
		     uint32_t address, uint32_t size, const uint32_t *entries)
{
	const struct litifut_section *section = litifut_image_section_at(image, address, size);

	if (!section || size < LITIFUT_ARCH_GET(arch, detour, gate_bytes))
		return;
	struct litifut_room *room = &rooms->items[rooms->count++];

	*room = (struct litifut_room){
		.address = address,
		.used = (uint32_t)LITIFUT_ARCH_GET(arch, detour, gate_bytes),
		.size = size,
		.bytes = section->bytes + (address - section->address),
	};
	memcpy(room->entries, entries, sizeof(room->entries));
	arch->detour->write_gate(context, address, entries, room->bytes);
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
	if (!LITIFUT_ARCH_GET(arch, detour, write_detour))
		return LITIFUT_OK;
	rooms->items = calloc(landings->count + 1, sizeof(*rooms->items));
	if (!rooms->items)
		return litifut_error_memory(error, image->path);
	if (own)
		add_room(image, arch, context, rooms, own->address, own->size,
			 landings->items[landings->own].entries);
	for (size_t i = 0; i < landings->count; i++) {
		const struct litifut_symbol *island = landings->items[i].island;

		if (island && !LITIFUT_ARCH_GET(arch, detour, encode_numbered))
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

void litifut_rooms_lead_on(const struct litifut_rooms *rooms, struct litifut_room *room)
{
	struct litifut_frame_code frame = {.start = room->address + room->used};

	if (!LITIFUT_ARCH_GET(rooms->arch, detour, write_onward) ||
	    room->size - room->used < LITIFUT_ONWARD_BYTES_MAX)
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
	if (!room || room->size - room->used < size)
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
