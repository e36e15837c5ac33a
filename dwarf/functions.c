#include "dwarf/functions.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "cpu/cpu.h"
#include "dwarf/types.h"

#define DEEPEST 64u /* of namespaces in namespaces */

struct by_address {
	uint32_t address;
	Dwarf_Off entry;
};

struct by_name {
	const char *name; /* in the DWARF */
	Dwarf_Off entry;
	bool defined;
};

struct dwarf_functions {
	Dwarf *dwarf;
	Dwarf *owned; /* NULL: it is another's */
	const struct cpu *cpu;
	unsigned flags;
	struct by_address *addresses;
	size_t address_count, address_room;
	struct by_name *names;
	size_t name_count, name_room;
	bool failed; /* no memory */
};

static bool has_c_calls(int language)
{
	switch (language) {
	case DW_LANG_C89:
	case DW_LANG_C:
	case DW_LANG_C99:
	case DW_LANG_C11:
	case DW_LANG_C_plus_plus:
	case DW_LANG_C_plus_plus_03:
	case DW_LANG_C_plus_plus_11:
	case DW_LANG_C_plus_plus_14:
		return true;
	}
	return false;
}

static void *make_room(struct dwarf_functions *functions, void *items, size_t count, size_t *room,
		       size_t bytes)
{
	if (count < *room)
		return items;
	void *grown = realloc(items, (2 * count + 256) * bytes);

	functions->failed |= !grown;
	if (!grown)
		return items;
	*room = 2 * count + 256;
	return grown;
}

static int take_function(Dwarf_Die *entry, void *context)
{
	struct dwarf_functions *functions = context;
	Dwarf_Attribute attribute;
	const char *name =
		dwarf_formstring(dwarf_attr_integrate(entry, DW_AT_linkage_name, &attribute));
	Dwarf_Addr address;
	const bool defined = !dwarf_entrypc(entry, &address);

	if (!name)
		name = dwarf_diename(entry);
	if (defined && address && address <= UINT32_MAX) {
		functions->addresses =
			make_room(functions, functions->addresses, functions->address_count,
				  &functions->address_room, sizeof(*functions->addresses));
		if (functions->failed)
			return DWARF_CB_ABORT;
		functions->addresses[functions->address_count++] =
			(struct by_address){(uint32_t)address, dwarf_dieoffset(entry)};
	}
	if (name) {
		functions->names = make_room(functions, functions->names, functions->name_count,
					     &functions->name_room, sizeof(*functions->names));
		if (functions->failed)
			return DWARF_CB_ABORT;
		functions->names[functions->name_count++] =
			(struct by_name){name, dwarf_dieoffset(entry), defined};
	}
	return DWARF_CB_OK;
}

/* Which dwarf_getfuncs() leaves out: of functions of other files. */
static void take_declarations(Dwarf_Die *scope, struct dwarf_functions *functions, unsigned depth)
{
	Dwarf_Die child;

	if (dwarf_child(scope, &child))
		return;
	do {
		if (dwarf_tag(&child) == DW_TAG_namespace && depth < DEEPEST)
			take_declarations(&child, functions, depth + 1);
		if (dwarf_tag(&child) == DW_TAG_subprogram &&
		    dwarf_hasattr(&child, DW_AT_declaration))
			take_function(&child, functions);
	} while (!dwarf_siblingof(&child, &child));
}

static int compare_addresses(const void *left, const void *right)
{
	const struct by_address *a = left;
	const struct by_address *b = right;

	return a->address < b->address ? -1 : a->address > b->address;
}

/* Of one name, what has code first. */
static int compare_names(const void *left, const void *right)
{
	const struct by_name *a = left;
	const struct by_name *b = right;
	const int order = strcmp(a->name, b->name);

	if (order || a->defined == b->defined)
		return order ? order : a->entry < b->entry ? -1 : a->entry > b->entry;
	return a->defined ? -1 : 1;
}

struct dwarf_functions *dwarf_functions_read(void *dwarf, const struct cpu *cpu, unsigned flags)
{
	struct dwarf_functions *functions =
		dwarf && cpu->place_parameters ? calloc(1, sizeof(*functions)) : NULL;
	Dwarf_Off offset = 0, next;
	size_t header;
	Dwarf_Die unit;

	if (!functions)
		return NULL;
	functions->dwarf = dwarf;
	functions->cpu = cpu;
	functions->flags = flags;
	for (; !dwarf_nextcu(dwarf, offset, &next, &header, NULL, NULL, NULL); offset = next)
		if (dwarf_offdie(dwarf, offset + header, &unit) &&
		    has_c_calls(dwarf_srclang(&unit))) {
			dwarf_getfuncs(&unit, take_function, functions, 0);
			take_declarations(&unit, functions, 0);
		}
	if (functions->failed) {
		dwarf_functions_release(functions);
		return NULL;
	}
	if (functions->address_count)
		qsort(functions->addresses, functions->address_count, sizeof(*functions->addresses),
		      compare_addresses);
	if (functions->name_count)
		qsort(functions->names, functions->name_count, sizeof(*functions->names),
		      compare_names);
	return functions;
}

struct dwarf_functions *dwarf_functions_open(void *elf, const struct cpu *cpu, unsigned flags)
{
	Dwarf *dwarf = dwarf_begin_elf(elf, DWARF_C_READ, NULL);
	struct dwarf_functions *functions = dwarf_functions_read(dwarf, cpu, flags);

	if (functions)
		functions->owned = dwarf;
	else
		dwarf_end(dwarf);
	return functions;
}

void dwarf_functions_release(struct dwarf_functions *functions)
{
	if (!functions)
		return;
	dwarf_end(functions->owned);
	free(functions->addresses);
	free(functions->names);
	free(functions);
}

/* NAME.isra.0, NAME.constprop.0, NAME.part.0 and the like; .lto_priv.0 only tells two functions of
 * one name from each other. */
static bool is_variant(const char *name)
{
	const char *dot = name && *name ? strchr(name + 1, '.') : NULL;

	return dot && strncmp(dot, ".lto_priv.", 10) != 0 && strcmp(dot, ".localalias") != 0;
}

static bool find(const struct dwarf_functions *functions, uint32_t address, const char *name,
		 Dwarf_Off *entry)
{
	const struct by_address key = {.address = address};
	const struct by_address *at =
		address && functions->address_count
			? bsearch(&key, functions->addresses, functions->address_count, sizeof(key),
				  compare_addresses)
			: NULL;
	size_t low = 0, high = functions->name_count;

	if (at) {
		*entry = at->entry;
		return true;
	}
	while (name && low < high) {
		const size_t middle = low + (high - low) / 2;

		if (strcmp(functions->names[middle].name, name) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	if (!name || low == functions->name_count || strcmp(functions->names[low].name, name) != 0)
		return false;
	*entry = functions->names[low].entry;
	return true;
}

/* What was made of an inline function has its parameters in the function. */
static void find_origin(Dwarf_Die *entry)
{
	Dwarf_Attribute attribute;
	Dwarf_Die origin;

	for (unsigned steps = 0; steps < 8; steps++) {
		if (!dwarf_formref_die(dwarf_attr(entry, DW_AT_abstract_origin, &attribute),
				       &origin))
			return;
		*entry = origin;
	}
}

struct reading {
	struct cpu_value values[LITIFUT_ARGUMENT_LAST + 1];
	const char *names[LITIFUT_ARGUMENT_LAST + 1];
	unsigned shown[LITIFUT_ARGUMENT_LAST + 1];
	struct cpu_signature signature;
};

/* `this` is the only one among those that the compiler has added of which it is sure that it is
 * passed. */
static bool is_passed(Dwarf_Die *parameter, const char *name)
{
	return !dwarf_hasattr_integrate(parameter, DW_AT_artificial) ||
	       (name && strcmp(name, "this") == 0);
}

static void read_parameters(Dwarf_Die *function, struct reading *reading)
{
	struct cpu_signature *signature = &reading->signature;
	bool certain = true;
	Dwarf_Die child;

	if (dwarf_child(function, &child))
		return;
	do {
		const int tag = dwarf_tag(&child);
		const size_t at = signature->count;

		signature->variadic |= tag == DW_TAG_unspecified_parameters;
		certain &= tag != DW_TAG_GNU_formal_parameter_pack;
		if (tag != DW_TAG_formal_parameter || !certain)
			continue;
		reading->names[at] = dwarf_diename(&child);
		certain = at <= LITIFUT_ARGUMENT_LAST && is_passed(&child, reading->names[at]) &&
			  dwarf_type_read(&child, &reading->values[at], &reading->shown[at]) &&
			  reading->values[at].kind;
		signature->count += certain;
	} while (!dwarf_siblingof(&child, &child) && signature->count <= LITIFUT_ARGUMENT_LAST);
}

/* The compiler says of a function that it is not called as the conventions say. */
static bool is_called_otherwise(Dwarf_Die *function)
{
	Dwarf_Attribute attribute;
	Dwarf_Word convention;

	return !dwarf_formudata(
		       dwarf_attr_integrate(function, DW_AT_calling_convention, &attribute),
		       &convention) &&
	       convention != DW_CC_normal;
}

bool dwarf_functions_parameters(const struct dwarf_functions *functions, uint32_t address,
				const char *name, struct dwarf_parameters *parameters)
{
	struct reading reading = {.signature.flags = functions->flags};
	struct cpu_signature *signature = &reading.signature;
	unsigned result;
	Dwarf_Off offset;
	Dwarf_Die entry;

	*parameters = (struct dwarf_parameters){0};
	if (is_variant(name) || !find(functions, address, name, &offset) ||
	    !dwarf_offdie(functions->dwarf, offset, &entry) || is_called_otherwise(&entry))
		return false;
	find_origin(&entry);
	signature->parameters = reading.values;
	if (!dwarf_type_read(&entry, &signature->result, &result))
		return false;
	read_parameters(&entry, &reading);
	if (signature->result.kind == CPU_VALUE_NUMBER && !signature->result.by_reference &&
	    signature->result.bytes <= 4)
		parameters->result = result;
	const size_t certain = functions->cpu->place_parameters(signature);

	for (size_t i = 0; i < certain; i++) {
		const struct cpu_value *value = &reading.values[i];
		const unsigned words = (value->bytes + 3) / 4;

		if (value->kind == CPU_VALUE_FLOAT || value->kind == CPU_VALUE_FLOATS)
			continue;
		if (value->word + words > LITIFUT_ARGUMENT_LAST + 1)
			break;
		parameters->items[parameters->count++] =
			(struct dwarf_parameter){reading.names[i], (uint8_t)value->word,
						 (uint8_t)words, (uint8_t)reading.shown[i]};
	}
	return true;
}
