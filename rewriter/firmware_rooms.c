/* Where the stubs of a firmware's call sites stand: in .text, or beside code that is out of reach
 * of it, in RAM or in a second flash. The start-up code copies them with that code. */
#include <elf.h>
#include <stdio.h>

#include "rewriter/firmware.h"
#include "rewriter/firmware_cpu.h"
#include "rewriter/firmware_pass.h"

_Static_assert(LITIFUT_FIRMWARE_ROOMS_MOST == 1 + LITIFUT_FIRMWARE_FAR_MOST, "a room for each");

bool litifut_firmware_is_far(const struct litifut_firmware_pass *pass, uint32_t one, uint32_t other)
{
	const uint32_t distance = one < other ? other - one : one - other;

	return pass->cpu->branch_reach && distance > pass->cpu->branch_reach;
}

void litifut_firmware_code_range(const struct litifut_firmware_pass *pass, uint32_t *start,
				 uint32_t *end)
{
	*start = UINT32_MAX;
	*end = 0;
	for (size_t i = 1; i < pass->image.section_count; i++) {
		const struct litifut_section *section = &pass->image.sections[i];

		if (!(section->flags & SHF_EXECINSTR) || !section->size ||
		    litifut_firmware_is_far(pass, section->address, pass->code_at))
			continue;
		if (section->address < *start)
			*start = section->address;
		if (section->address + section->size > *end)
			*end = section->address + section->size;
	}
}

void litifut_firmware_find_rooms(struct litifut_firmware_pass *pass)
{
	pass->rooms[0].symbol = litifut_image_symbol(&pass->image, LITIFUT_FIRMWARE_STUBS);
	if (pass->rooms[0].symbol)
		pass->code_at = pass->rooms[0].symbol->address;
	for (unsigned i = 0; i < LITIFUT_FIRMWARE_FAR_MOST; i++) {
		struct litifut_firmware_room *room = &pass->rooms[pass->room_count];
		char name[sizeof(LITIFUT_FIRMWARE_FAR_STUBS) + 10];

		snprintf(name, sizeof(name), LITIFUT_FIRMWARE_FAR_STUBS "%u", i);
		room->symbol = litifut_image_symbol(&pass->image, name);
		if (!room->symbol)
			continue;
		room->section = room->symbol->section;
		pass->room_count++;
	}
}

struct litifut_firmware_room *litifut_firmware_room_for(struct litifut_firmware_pass *pass,
							const struct litifut_found_site *site)
{
	struct litifut_firmware_room *room = pass->rooms;

	/* An entry of the vector table is an address, which reaches all. */
	if (site->site.kind == LITIFUT_SITE_VECTOR ||
	    !litifut_firmware_is_far(pass, site->site.address, pass->code_at))
		return room;
	for (unsigned i = 1; i < pass->room_count; i++)
		if (pass->rooms[i].section == site->section)
			return &pass->rooms[i];
	if (pass->rooms[0].symbol || pass->room_count == LITIFUT_FIRMWARE_ROOMS_MOST)
		return NULL;
	room = &pass->rooms[pass->room_count++];
	room->section = site->section;
	room->site = site->site.address;
	return room;
}

enum litifut_status litifut_firmware_put_stub(struct litifut_firmware_pass *pass,
					      struct litifut_firmware_room *room,
					      const struct litifut_firmware_stub *stub,
					      struct litifut_error *error)
{
	if (room->symbol && room->bytes + stub->bytes > room->symbol->size)
		return litifut_error_set(error, LITIFUT_ERROR_SPACE, pass->image.path, ".text",
					 LITIFUT_NO_ADDRESS,
					 "the room for the stubs of call sites is too small");
	if (room->symbol && !litifut_firmware_change(pass, room->symbol->address + room->bytes,
						     stub->code, stub->bytes))
		return litifut_firmware_missing(pass, room->symbol->name, error);
	room->bytes += stub->bytes;
	return LITIFUT_OK;
}

enum litifut_status litifut_firmware_lead(struct litifut_firmware_pass *pass,
					  struct litifut_firmware_room *room,
					  enum litifut_firmware_way way, uint32_t *target,
					  struct litifut_error *error)
{
	struct litifut_firmware_stub stub;
	enum litifut_status status = LITIFUT_OK;

	if (room == pass->rooms)
		return LITIFUT_OK;
	if (!room->has_way[way]) {
		room->has_way[way] = true;
		room->ways[way] = room->symbol ? room->symbol->address + room->bytes : *target;
		pass->cpu->write_far_branch(pass->baseline, *target, &stub);
		status = litifut_firmware_put_stub(pass, room, &stub, error);
	}
	*target = room->ways[way];
	return status;
}
