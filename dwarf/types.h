/* What a type of DWARF is for a call: how large, where, and how its value is shown. */
#ifndef LITIFUT_DWARF_TYPES_H
#define LITIFUT_DWARF_TYPES_H

#include <elfutils/libdw.h>
#include <stdbool.h>

#include "cpu/parameters.h"

/* The type of `entry` without names and qualifiers; *constant: one of them was const. False: void.
 */
bool dwarf_peeled_type(Dwarf_Die *entry, Dwarf_Die *type, bool *constant);

/* The type of a variable, a parameter or a result; `shown` gets the enum litifut_argument_type of
 * its first word. False: it is of a kind that is not understood. */
bool dwarf_type_read(Dwarf_Die *entry, struct cpu_value *value, unsigned *shown);

#endif
