#include "dwarf/named_pointer.h"

#include <dwarf.h>
#include <string.h>
#include <strings.h>

#include "dwarf/types.h"

static bool type_of(Dwarf_Die *entry, Dwarf_Die *type)
{
	bool constant;

	return dwarf_peeled_type(entry, type, &constant);
}

/* The first child of this kind, with a name that is, or has, these letters. */
static bool find_child(Dwarf_Die *parent, int tag, const char *name, bool whole, Dwarf_Die *child)
{
	if (dwarf_child(parent, child))
		return false;
	do {
		const char *its = dwarf_diename(child);
		size_t length = strlen(name);

		if (dwarf_tag(child) != tag || !its)
			continue;
		if (whole && !strcmp(its, name))
			return true;
		for (; !whole && strlen(its) >= length; its++)
			if (!strncasecmp(its, name, length))
				return true;
	} while (!dwarf_siblingof(child, child));
	return false;
}

static bool offset_of(Dwarf_Die *member, uint32_t *offset)
{
	Dwarf_Attribute attribute;
	Dwarf_Word at = 0;

	if (dwarf_hasattr(member, DW_AT_data_member_location) &&
	    dwarf_formudata(dwarf_attr(member, DW_AT_data_member_location, &attribute), &at))
		return false;
	*offset += (uint32_t)at;
	return true;
}

static bool is_character(Dwarf_Die *entry)
{
	Dwarf_Die type;

	return type_of(entry, &type) && dwarf_tag(&type) == DW_TAG_base_type &&
	       dwarf_bytesize(&type) == 1;
}

/* Another member may have "name" in its name without being one. */
static void find_name(Dwarf_Die *structure, struct dwarf_named_pointer *found)
{
	Dwarf_Die member, type;

	if (!find_child(structure, DW_TAG_member, "name", false, &member) ||
	    !type_of(&member, &type))
		return;
	found->name_points = dwarf_tag(&type) == DW_TAG_pointer_type;
	found->has_name = (found->name_points || dwarf_tag(&type) == DW_TAG_array_type) &&
			  is_character(&type) && offset_of(&member, &found->name);
}

static bool follow(Dwarf_Die *variable, const char *const *path, struct dwarf_named_pointer *found)
{
	Dwarf_Die type, member;

	if (!type_of(variable, &type))
		return false;
	for (; *path; path++) {
		if (!find_child(&type, DW_TAG_member, *path, true, &member) ||
		    !offset_of(&member, &found->offset) || !type_of(&member, &type))
			return false;
		if (dwarf_tag(&type) == DW_TAG_array_type && !type_of(&type, &type))
			return false;
	}
	if (dwarf_tag(&type) == DW_TAG_pointer_type && type_of(&type, &member))
		find_name(&member, found);
	return true;
}

/* A unit may declare the variable as a pointer to something else. */
bool dwarf_named_pointer_find(void *elf, const char *variable, const char *const *path,
			      struct dwarf_named_pointer *found)
{
	Dwarf *dwarf = dwarf_begin_elf(elf, DWARF_C_READ, NULL);
	Dwarf_Off offset = 0, next;
	size_t header;
	bool some = false;

	memset(found, 0, sizeof(*found));
	for (; dwarf && !found->has_name &&
	       !dwarf_nextcu(dwarf, offset, &next, &header, NULL, NULL, NULL);
	     offset = next) {
		struct dwarf_named_pointer here = {0};
		Dwarf_Die unit, entry;

		if (!dwarf_offdie(dwarf, offset + header, &unit) ||
		    !find_child(&unit, DW_TAG_variable, variable, true, &entry) ||
		    !follow(&entry, path, &here))
			continue;
		if (!some || here.has_name)
			*found = here;
		some = true;
	}
	dwarf_end(dwarf);
	return some;
}
