/* What a column holds: by its name and unit, or by what the user says. */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "postproc/energy/reader.h"

struct unit {
	const char *name;
	enum energy_role role;
	double scale;
};

static const struct unit units[] = {
	{"s", ENERGY_ROLE_TIME, 1},        {"sec", ENERGY_ROLE_TIME, 1},
	{"seconds", ENERGY_ROLE_TIME, 1},  {"ms", ENERGY_ROLE_TIME, 1e-3},
	{"us", ENERGY_ROLE_TIME, 1e-6},    {"µs", ENERGY_ROLE_TIME, 1e-6},
	{"μs", ENERGY_ROLE_TIME, 1e-6},    {"ns", ENERGY_ROLE_TIME, 1e-9},
	{"A", ENERGY_ROLE_CURRENT, 1},     {"mA", ENERGY_ROLE_CURRENT, 1e-3},
	{"uA", ENERGY_ROLE_CURRENT, 1e-6}, {"µA", ENERGY_ROLE_CURRENT, 1e-6},
	{"μA", ENERGY_ROLE_CURRENT, 1e-6}, {"nA", ENERGY_ROLE_CURRENT, 1e-9},
	{"V", ENERGY_ROLE_VOLTAGE, 1},     {"mV", ENERGY_ROLE_VOLTAGE, 1e-3},
	{"uV", ENERGY_ROLE_VOLTAGE, 1e-6}, {"W", ENERGY_ROLE_POWER, 1},
	{"mW", ENERGY_ROLE_POWER, 1e-3},   {"uW", ENERGY_ROLE_POWER, 1e-6},
	{"µW", ENERGY_ROLE_POWER, 1e-6},   {"J", ENERGY_ROLE_ENERGY, 1},
	{"mJ", ENERGY_ROLE_ENERGY, 1e-3},  {"uJ", ENERGY_ROLE_ENERGY, 1e-6},
	{"nJ", ENERGY_ROLE_ENERGY, 1e-9},
};

static const struct {
	const char *name;
	enum energy_role role;
} roles[] = {
	{"time", ENERGY_ROLE_TIME},       {"current", ENERGY_ROLE_CURRENT},
	{"voltage", ENERGY_ROLE_VOLTAGE}, {"power", ENERGY_ROLE_POWER},
	{"energy", ENERGY_ROLE_ENERGY},   {"sync", ENERGY_ROLE_PIN},
	{"pin", ENERGY_ROLE_PIN},         {"pins", ENERGY_ROLE_PINS},
	{"none", ENERGY_ROLE_NONE},
};

/* The case of a unit matters: mW is not MW. Only where there is no other one it does
 * not matter. */
static const struct unit *unit_by_name(const char *name)
{
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		if (!strcmp(units[i].name, name))
			return &units[i];
	}
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		if (!strcasecmp(units[i].name, name))
			return &units[i];
	}
	return NULL;
}

/* "10us", "mA" */
static const struct unit *unit_with_factor(const char *text, double *scale)
{
	char *end;
	double factor = strtod(text, &end);

	if (end == text)
		factor = 1;
	const struct unit *unit = unit_by_name(end);
	if (!unit || !(factor > 0) || !isfinite(factor))
		return NULL;
	*scale = factor * unit->scale;
	return unit;
}

static void set_unit(struct energy_column *column, const char *unit)
{
	snprintf(column->unit, sizeof(column->unit), "%.7s", unit);
}

static bool has_word(const char *text, const char *word)
{
	return strstr(text, word);
}

static bool starts_with(const char *text, const char *word)
{
	return !strncmp(text, word, strlen(word));
}

/* "in s", "C1 in A"; NULL: there is no such unit. */
static const char *unit_behind_in(const char *text)
{
	const char *in = starts_with(text, "in ") ? text : NULL;

	for (const char *next = text; (next = strstr(next, " in ")); next++)
		in = next + 1;
	return in && unit_by_name(in + 3) ? in + 3 : NULL;
}

/* Splits "Current (uA)", "I [mA]", "main_mA" and gives the unit, "" if there is none. */
static void split(const char *name, size_t length, char *base, size_t base_size, char *unit,
		  size_t unit_size)
{
	char text[96];
	const char *open;

	if (length >= sizeof(text))
		length = sizeof(text) - 1;
	memcpy(text, name, length);
	text[length] = '\0';
	char *start = text;
	while (*start && (isspace((unsigned char)*start) || *start == '"' || *start == '#'))
		start++;
	size_t end = strlen(start);
	while (end && (isspace((unsigned char)start[end - 1]) || start[end - 1] == '"'))
		start[--end] = '\0';
	unit[0] = '\0';
	open = strpbrk(start, "([");
	if (open) {
		size_t size = strcspn(open + 1, ")]");
		snprintf(unit, unit_size, "%.*s", (int)size, open + 1);
		snprintf(base, base_size, "%.*s", (int)(open - start), start);
	} else if (unit_behind_in(start)) {
		const char *in = unit_behind_in(start);
		snprintf(unit, unit_size, "%s", in);
		snprintf(base, base_size, "%.*s", (int)(in - start >= 4 ? in - start - 4 : 0),
			 start);
	} else {
		const char *last = strrchr(start, '_');
		snprintf(base, base_size, "%s", start);
		if (last && unit_by_name(last + 1)) {
			snprintf(unit, unit_size, "%s", last + 1);
			if ((size_t)(last - start) < base_size)
				base[last - start] = '\0';
		}
	}
	end = strlen(base);
	while (end && isspace((unsigned char)base[end - 1]))
		base[--end] = '\0';
}

/* D0, D15, GPI1, GPI 0, Digital 2, Logic 3, Channel 0 (of a file of changes) */
static bool is_pin(const char *lower)
{
	static const char *const words[] = {"d", "gpi", "digital", "logic", "dio", "pin", NULL};

	for (size_t i = 0; words[i]; i++) {
		if (!starts_with(lower, words[i]))
			continue;
		const char *rest = lower + strlen(words[i]);
		rest += strspn(rest, " _-");
		size_t digits = strspn(rest, "0123456789");
		/* "GPI 1 - Arc", with the instrument's name */
		if (digits && (!rest[digits] || starts_with(rest + digits, " - ")))
			return true;
	}
	return false;
}

void energy_column_by_name(struct energy_column *column, const char *name, size_t length)
{
	char base[64], unit[16], lower[64];
	size_t i;

	*column = (struct energy_column){.scale = 1};
	split(name, length, base, sizeof(base), unit, sizeof(unit));
	snprintf(column->name, sizeof(column->name), "%.31s", base);
	for (i = 0; base[i] && i + 1 < sizeof(lower); i++)
		lower[i] = (char)tolower((unsigned char)base[i]);
	lower[i] = '\0';
	const struct unit *known = unit[0] ? unit_by_name(unit) : NULL;
	size_t end = strlen(lower);

	if (!strcmp(lower, "d0-d7") || !strcmp(lower, "d0..d7")) {
		column->role = ENERGY_ROLE_PINS;
	} else if (is_pin(lower)) {
		column->role = ENERGY_ROLE_PIN;
	} else if (starts_with(lower, "time") || !strcmp(lower, "t") || !strcmp(lower, "x-axis") ||
		   !strcmp(lower, "second") || !strcmp(lower, "seconds")) {
		column->role = ENERGY_ROLE_TIME;
	} else if (has_word(lower, "max") || has_word(lower, "min") || has_word(lower, "peak")) {
		column->role = ENERGY_ROLE_NONE; /* of what another column has the mean of */
	} else if (has_word(lower, "current") || has_word(lower, "amp") || !strcmp(lower, "i") ||
		   (end > 2 && !strcmp(lower + end - 2, ".i"))) {
		column->role = ENERGY_ROLE_CURRENT;
	} else if (has_word(lower, "volt") || !strcmp(lower, "v") || !strcmp(lower, "u") ||
		   (end > 2 && !strcmp(lower + end - 2, ".v"))) {
		column->role = ENERGY_ROLE_VOLTAGE;
	} else if (has_word(lower, "power") || !strcmp(lower, "p") ||
		   (end > 2 && !strcmp(lower + end - 2, ".p"))) {
		column->role = ENERGY_ROLE_POWER;
	} else if (has_word(lower, "energy")) {
		column->role = ENERGY_ROLE_ENERGY;
	} else if (known) {
		column->role = known->role;
	}
	if (known && known->role == column->role) {
		column->scale = known->scale;
		set_unit(column, unit);
	} else if (known && column->role != ENERGY_ROLE_NONE && column->role != ENERGY_ROLE_PIN &&
		   column->role != ENERGY_ROLE_PINS) {
		/* "value_mA" is what its unit says, "power (mA)" as well */
		column->role = known->role;
		column->scale = known->scale;
		set_unit(column, unit);
	}
}

/* The next "ROLE=COLUMN[:UNIT]" of the text; NULL at the end or on a mistake. */
static const char *next_entry(const char *text, char *role, char *which, char *unit, size_t size)
{
	size_t length = strcspn(text, ",");
	const char *equals = memchr(text, '=', length);

	if (!equals)
		return NULL;
	const char *end = text + length;
	const char *colon = memchr(equals, ':', (size_t)(end - equals));
	const char *stop = colon ? colon : end;
	if ((size_t)(equals - text) >= size || (size_t)(stop - equals) > size ||
	    (size_t)(end - stop) > size)
		return NULL;
	snprintf(role, size, "%.*s", (int)(equals - text), text);
	snprintf(which, size, "%.*s", (int)(stop - equals - 1), equals + 1);
	snprintf(unit, size, "%.*s", colon ? (int)(end - colon - 1) : 0, colon ? colon + 1 : "");
	return *end ? end + 1 : end;
}

static int role_by_name(const char *name)
{
	for (size_t i = 0; i < sizeof(roles) / sizeof(roles[0]); i++) {
		if (!strcmp(roles[i].name, name))
			return (int)roles[i].role;
	}
	return -1;
}

enum litifut_status energy_columns_check(const char *columns, struct litifut_error *error)
{
	char role[64], which[64], unit[64];
	double scale;

	while (columns && *columns) {
		const char *next = next_entry(columns, role, which, unit, sizeof(role));
		if (!next || role_by_name(role) < 0 || !*which ||
		    (*unit && !unit_with_factor(unit, &scale)))
			return litifut_error_set(
				error, LITIFUT_ERROR_FORMAT, "--columns", NULL, LITIFUT_NO_ADDRESS,
				"\"%.60s\" is not ROLE=COLUMN or ROLE=COLUMN:UNIT with a role of "
				"time, "
				"current, voltage, power, energy, sync, pins or none",
				columns);
		columns = next;
	}
	return LITIFUT_OK;
}

bool energy_column_by_option(struct energy_column *column, const char *columns, size_t number,
			     const char *name)
{
	char role[64], which[64], unit[64], *end;

	while (columns && *columns) {
		const char *next = next_entry(columns, role, which, unit, sizeof(role));
		if (!next)
			return false;
		unsigned long asked = strtoul(which, &end, 10);
		if ((!*end && asked == number) || (*end && !strcmp(which, name))) {
			int found = role_by_name(role);
			column->role = found < 0 ? ENERGY_ROLE_NONE : (enum energy_role)found;
			column->scale = 1;
			if (*unit)
				unit_with_factor(unit, &column->scale);
			set_unit(column, unit);
			snprintf(column->name, sizeof(column->name), "%.31s", name);
			return true;
		}
		columns = next;
	}
	return false;
}
