#include "dwarf/types.h"

#include <dwarf.h>
#include <litifut/arguments.h>
#include <stdint.h>
#include <string.h>

#define DEEPEST 16u /* of types in types */

bool dwarf_peeled_type(Dwarf_Die *entry, Dwarf_Die *type, bool *constant)
{
	Dwarf_Attribute attribute;

	*constant = false;
	if (!dwarf_formref_die(dwarf_attr_integrate(entry, DW_AT_type, &attribute), type))
		return false;
	for (unsigned steps = 0; steps < 64; steps++) {
		switch (dwarf_tag(type)) {
		case DW_TAG_const_type:
			*constant = true;
			break;
		case DW_TAG_typedef:
		case DW_TAG_volatile_type:
		case DW_TAG_restrict_type:
		case DW_TAG_atomic_type:
			break;
		default:
			return true;
		}
		if (!dwarf_formref_die(dwarf_attr(type, DW_AT_type, &attribute), type))
			return false; /* void */
	}
	return false;
}

/* `const char *`. What a pointer to other characters leads to may not be written yet. */
static bool is_text(Dwarf_Die *pointer)
{
	Dwarf_Die type;
	const char *name;
	bool constant;

	if (!dwarf_peeled_type(pointer, &type, &constant) || !constant ||
	    dwarf_tag(&type) != DW_TAG_base_type)
		return false;
	name = dwarf_diename(&type);
	return name && strcmp(name, "char") == 0 && dwarf_bytesize(&type) == 1;
}

static bool read_base(Dwarf_Die *type, struct cpu_value *value, unsigned *shown)
{
	Dwarf_Attribute attribute;
	Dwarf_Word encoding;

	if (dwarf_formudata(dwarf_attr(type, DW_AT_encoding, &attribute), &encoding) ||
	    (value->bytes > 4 && value->bytes != 8) || !value->bytes)
		return false;
	value->kind = encoding == DW_ATE_float ? CPU_VALUE_FLOAT : CPU_VALUE_NUMBER;
	value->alignment = value->bytes;
	*shown = LITIFUT_ARGUMENT_UNSIGNED;
	if (value->bytes == 8)
		*shown = LITIFUT_ARGUMENT_HEX; /* each half of it */
	else if (encoding == DW_ATE_signed || encoding == DW_ATE_signed_char)
		*shown = LITIFUT_ARGUMENT_SIGNED;
	return encoding != DW_ATE_complex_float && (encoding != DW_ATE_float || value->bytes >= 4);
}

static bool read_type(Dwarf_Die *entry, struct cpu_value *value, unsigned *shown, unsigned depth);

/* Adds a member, or the elements of an array, to a structure. */
static void add_member(struct cpu_value *whole, const struct cpu_value *part, bool *floats)
{
	const unsigned bytes = part->kind == CPU_VALUE_FLOAT    ? part->bytes
			       : part->kind == CPU_VALUE_FLOATS ? part->float_bytes
								: 0;

	*floats = *floats && bytes && (!whole->float_bytes || whole->float_bytes == bytes);
	whole->float_bytes = bytes;
	if (part->alignment > whole->alignment)
		whole->alignment = part->alignment;
}

enum passed { PASSED_UNKNOWN, PASSED_BY_VALUE, PASSED_BY_REFERENCE };

/* Clang says how a class is passed. */
static enum passed said_to_be_passed(Dwarf_Die *type)
{
	Dwarf_Attribute attribute;
	Dwarf_Word convention;

	if (dwarf_formudata(dwarf_attr(type, DW_AT_calling_convention, &attribute), &convention))
		return PASSED_UNKNOWN;
	return convention == DW_CC_pass_by_reference ? PASSED_BY_REFERENCE
	       : convention == DW_CC_pass_by_value   ? PASSED_BY_VALUE
						     : PASSED_UNKNOWN;
}

/* Is the first parameter of a constructor, behind `this`, a reference to the class itself? */
static bool takes_its_class(Dwarf_Die *constructor, Dwarf_Die *class)
{
	Dwarf_Attribute attribute;
	Dwarf_Die child, type, referred;
	bool constant;

	if (dwarf_child(constructor, &child))
		return false;
	do {
		if (dwarf_tag(&child) != DW_TAG_formal_parameter ||
		    dwarf_hasattr(&child, DW_AT_artificial))
			continue;
		return dwarf_formref_die(dwarf_attr(&child, DW_AT_type, &attribute), &type) &&
		       (dwarf_tag(&type) == DW_TAG_reference_type ||
			dwarf_tag(&type) == DW_TAG_rvalue_reference_type) &&
		       dwarf_peeled_type(&type, &referred, &constant) &&
		       dwarf_dieoffset(&referred) == dwarf_dieoffset(class);
	} while (!dwarf_siblingof(&child, &child));
	return false;
}

/* Of GCC it must be found out: a class with a user-written destructor or copy constructor is passed
 * by reference (Itanium C++ ABI, "non-trivial for the purposes of calls"). */
static enum passed passed_by_member(Dwarf_Die *class, Dwarf_Die *member)
{
	const char *name = dwarf_diename(member), *class_name = dwarf_diename(class);
	const int tag = dwarf_tag(member);
	bool constructs;

	if ((tag == DW_TAG_inheritance || tag == DW_TAG_subprogram) &&
	    dwarf_hasattr(member, DW_AT_virtuality))
		return PASSED_BY_REFERENCE;
	if (tag != DW_TAG_subprogram || !name || dwarf_hasattr(member, DW_AT_defaulted) ||
	    dwarf_hasattr(member, DW_AT_artificial))
		return PASSED_BY_VALUE;
	constructs = class_name && strncmp(name, class_name, strlen(name)) == 0 &&
		     (!class_name[strlen(name)] || class_name[strlen(name)] == '<') &&
		     takes_its_class(member, class);
	if ((constructs || *name == '~') && dwarf_hasattr(member, DW_AT_deleted))
		return PASSED_UNKNOWN;
	return constructs || *name == '~' ? PASSED_BY_REFERENCE : PASSED_BY_VALUE;
}

/* A base or a member that is not static: true unless it is not understood. */
static bool read_member(Dwarf_Die *member, struct cpu_value *whole, bool *floats, unsigned depth)
{
	struct cpu_value part = {0};
	Dwarf_Attribute attribute;
	Dwarf_Word offset;
	unsigned shown;

	if (dwarf_hasattr(member, DW_AT_alignment) || !read_type(member, &part, &shown, depth + 1))
		return false;
	if (!dwarf_hasattr(member, DW_AT_data_bit_offset) &&
	    !dwarf_formudata(dwarf_attr(member, DW_AT_data_member_location, &attribute), &offset) &&
	    part.alignment && offset % part.alignment)
		return false; /* packed */
	whole->by_reference |= part.by_reference;
	add_member(whole, &part, floats);
	return true;
}

static bool read_structure(Dwarf_Die *type, struct cpu_value *value, unsigned depth)
{
	const enum passed said = said_to_be_passed(type);
	bool floats = true;
	bool some = false;
	Dwarf_Die child;

	value->kind = CPU_VALUE_STRUCT;
	value->alignment = 1;
	if (dwarf_hasattr(type, DW_AT_declaration) || dwarf_hasattr(type, DW_AT_alignment) ||
	    !value->bytes || dwarf_child(type, &child))
		return false;
	do {
		const int tag = dwarf_tag(&child);
		const enum passed passed = said ? said : passed_by_member(type, &child);

		if (passed == PASSED_UNKNOWN)
			return false;
		value->by_reference |= passed == PASSED_BY_REFERENCE;
		if ((tag != DW_TAG_member && tag != DW_TAG_inheritance) ||
		    dwarf_hasattr(&child, DW_AT_external)) /* a static one */
			continue;
		if (!read_member(&child, value, &floats, depth))
			return false;
		some = true;
	} while (!dwarf_siblingof(&child, &child));
	if (!some || value->bytes % value->alignment)
		return false;
	if (floats && value->float_bytes && value->bytes / value->float_bytes <= 4)
		value->kind = CPU_VALUE_FLOATS;
	return true;
}

static bool read_type(Dwarf_Die *entry, struct cpu_value *value, unsigned *shown, unsigned depth)
{
	Dwarf_Die type;
	bool constant;
	Dwarf_Attribute attribute;
	Dwarf_Word encoding;

	if (depth > DEEPEST || !dwarf_peeled_type(entry, &type, &constant))
		return false;
	const int bytes = dwarf_bytesize(&type);

	value->bytes = bytes > 0 ? (unsigned)bytes : 0;
	switch (dwarf_tag(&type)) {
	case DW_TAG_base_type:
		return read_base(&type, value, shown);
	case DW_TAG_enumeration_type:
		if (value->bytes > 4 || !value->bytes)
			return false;
		value->kind = CPU_VALUE_NUMBER;
		value->alignment = value->bytes;
		*shown = LITIFUT_ARGUMENT_SIGNED;
		if (!dwarf_formudata(dwarf_attr(&type, DW_AT_encoding, &attribute), &encoding) &&
		    encoding != DW_ATE_signed)
			*shown = LITIFUT_ARGUMENT_UNSIGNED;
		return true;
	case DW_TAG_pointer_type:
	case DW_TAG_reference_type:
	case DW_TAG_rvalue_reference_type:
		*value = (struct cpu_value){.kind = CPU_VALUE_NUMBER, .bytes = 4, .alignment = 4};
		*shown = dwarf_tag(&type) == DW_TAG_pointer_type && is_text(&type)
				 ? LITIFUT_ARGUMENT_STRING
				 : LITIFUT_ARGUMENT_POINTER;
		return true;
	case DW_TAG_unspecified_type: /* nullptr_t */
		*value = (struct cpu_value){.kind = CPU_VALUE_NUMBER, .bytes = 4, .alignment = 4};
		*shown = LITIFUT_ARGUMENT_POINTER;
		return true;
	case DW_TAG_structure_type:
	case DW_TAG_class_type:
	case DW_TAG_union_type:
		*shown = LITIFUT_ARGUMENT_HEX;
		if (!read_structure(&type, value, depth))
			return false;
		if (!value->by_reference || depth)
			return true;
		*shown = LITIFUT_ARGUMENT_POINTER;
		*value = (struct cpu_value){
			.kind = CPU_VALUE_NUMBER, .bytes = 4, .alignment = 4, .by_reference = true};
		return true;
	case DW_TAG_array_type: /* of a structure only */
		return depth && !dwarf_hasattr(&type, DW_AT_GNU_vector) &&
		       read_type(&type, value, shown, depth + 1);
	}
	return false;
}

bool dwarf_type_read(Dwarf_Die *entry, struct cpu_value *value, unsigned *shown)
{
	*value = (struct cpu_value){0};
	*shown = 0;
	if (!dwarf_hasattr_integrate(entry, DW_AT_type))
		return true; /* void, of a result */
	return read_type(entry, value, shown, 0);
}
