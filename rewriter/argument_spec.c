#include "rewriter/argument_spec.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ARGUMENTS "LITIFUT_ARGS"
#define TRIGGERS "LITIFUT_TRIGGER"

static unsigned type_of(char letter)
{
	switch (letter) {
	case 'i':
		return LITIFUT_ARGUMENT_SIGNED;
	case 'u':
		return LITIFUT_ARGUMENT_UNSIGNED;
	case 'x':
		return LITIFUT_ARGUMENT_HEX;
	case 'p':
		return LITIFUT_ARGUMENT_POINTER;
	case 's':
		return LITIFUT_ARGUMENT_STRING;
	}
	return 0;
}

/* 0: it is not a field. */
static uint8_t read_field(const char *text, size_t length)
{
	unsigned number = 0;
	unsigned type;

	if (length && text[0] == 'r') {
		type = length == 1 ? (unsigned)LITIFUT_ARGUMENT_PLAIN : type_of(text[1]);
		return length <= 2 && type ? LITIFUT_ARGUMENT_FIELD(type, LITIFUT_ARGUMENT_RETURN)
					   : 0;
	}
	type = length ? type_of(text[0]) : 0;
	if (!type || length < 2 || length > 3)
		return 0;
	for (size_t i = 1; i < length; i++) {
		if (!isdigit((unsigned char)text[i]))
			return 0;
		number = number * 10 + (unsigned)(text[i] - '0');
	}
	return number <= LITIFUT_ARGUMENT_LAST ? LITIFUT_ARGUMENT_FIELD(type, number) : 0;
}

static void complain(const char *setting, void (*wrong)(const char *line), const char *item,
		     size_t length, const char *what)
{
	char line[512];

	snprintf(line, sizeof(line), "%s: %.*s: %s", setting, length > 200 ? 200 : (int)length,
		 item, what);
	wrong(line);
}

/* The fields behind the last colon: C++ names have colons as well. False: they are wrong. */
static bool read_fields(const char *item, size_t length, const char *fields,
			struct litifut_argument_spec *spec, void (*wrong)(const char *line))
{
	const char *end = item + length;
	unsigned count = 0;

	while (fields < end) {
		const char *comma = memchr(fields, ',', (size_t)(end - fields));
		const size_t bytes = (size_t)((comma ? comma : end) - fields);
		const uint8_t field = read_field(fields, bytes);
		char what[160];

		if (bytes == 1 && *fields == '*') {
			spec->all = true;
			fields += bytes + (comma != NULL);
			continue;
		}
		if (!field) {
			snprintf(what, sizeof(what),
				 "\"%.*s\" is not i, u, x, p or s with the number of an argument "
				 "(0 to %u), or r, or *; left out",
				 bytes > 40 ? 40 : (int)bytes, fields, LITIFUT_ARGUMENT_LAST);
			complain(ARGUMENTS, wrong, item, length, what);
			return false;
		}
		if (count == LITIFUT_ARGUMENT_FIELDS) {
			snprintf(what, sizeof(what), "more than %u values; left out",
				 LITIFUT_ARGUMENT_FIELDS);
			complain(ARGUMENTS, wrong, item, length, what);
			return false;
		}
		spec->fields[count++] = field;
		fields += bytes + (comma != NULL);
	}
	if (!count && !spec->all)
		complain(ARGUMENTS, wrong, item, length, "no arguments behind the colon; left out");
	return count || spec->all;
}

static const char *last_colon(const char *item, size_t length)
{
	for (const char *at = item + length; at-- > item;)
		if (*at == ':')
			return at;
	return NULL;
}

static void add_spec(struct litifut_argument_specs *specs, const char *glob, size_t length,
		     struct litifut_argument_spec *spec)
{
	struct litifut_argument_spec *grown =
		realloc(specs->items, (specs->count + 1) * sizeof(*grown));

	if (!grown)
		return;
	specs->items = grown;
	spec->glob = strndup(glob, length);
	if (spec->glob)
		specs->items[specs->count++] = *spec;
}

/* Where `#N` begins at the end of an item, and N; else the end, and 0. False: N is not a number
 * from 1 on. */
static bool read_call(const char *item, size_t length, size_t *end, uint32_t *call)
{
	const char *mark = memrchr(item, '#', length);
	unsigned long number;
	char *rest;

	*call = 0;
	*end = mark ? (size_t)(mark - item) : length;
	if (!mark)
		return true;
	number = strtoul(mark + 1, &rest, 10);
	*call = (uint32_t)number;
	return isdigit((unsigned char)mark[1]) && rest == item + length && number &&
	       number <= UINT32_MAX;
}

/* Where `>T` begins at the end of an item, and T in nanoseconds; else the end, and 0. Names of C++
 * have a `>` as well, with no digit or letter behind it. False: T is not a time. */
static bool read_time(const char *item, size_t length, size_t *end, uint64_t *time)
{
	static const struct {
		const char *name;
		uint64_t nanoseconds;
	} units[] = {{"ns", 1}, {"us", 1000}, {"ms", 1000000}, {"s", 1000000000}};
	const char *mark = memrchr(item, '>', length);
	const char *at = mark ? mark + 1 : item + length;
	const char *stop = item + length;
	uint64_t number = 0;

	*time = 0;
	*end = length;
	if (at == stop || !(isalnum((unsigned char)*at) || *at == '.' || *at == '-'))
		return true;
	*end = (size_t)(mark - item);
	for (; at < stop && isdigit((unsigned char)*at); at++) {
		number = number * 10 + (uint64_t)(*at - '0');
		if (number > UINT32_MAX)
			return false;
	}
	for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++)
		if (strlen(units[i].name) == (size_t)(stop - at) &&
		    !memcmp(units[i].name, at, (size_t)(stop - at)))
			*time = number * units[i].nanoseconds;
	return *time;
}

static void read_trigger(const char *item, size_t length, struct litifut_argument_specs *specs,
			 void (*wrong)(const char *line))
{
	static const struct {
		const char *word;
		enum litifut_trigger_kind kind;
	} kinds[] = {{"start:", LITIFUT_TRIGGER_START},
		     {"stop:", LITIFUT_TRIGGER_STOP},
		     {"snapshot:", LITIFUT_TRIGGER_SNAPSHOT}};
	struct litifut_argument_spec spec = {0};
	struct litifut_trigger trigger = {0};
	size_t begin = 0;
	uint64_t time;
	size_t end;

	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (!strncmp(item, kinds[i].word, strlen(kinds[i].word))) {
			trigger.kind = kinds[i].kind;
			begin = strlen(kinds[i].word);
		}
	if (!trigger.kind || !read_call(item, length, &end, &trigger.call) || end <= begin) {
		complain(TRIGGERS, wrong, item, length,
			 "is not start:, stop: or snapshot: with a function, or with FUNCTION#N "
			 "for its Nth call; left out");
		return;
	}
	if (!read_time(item, end, &end, &time) || end <= begin) {
		complain(TRIGGERS, wrong, item, length,
			 "behind the > is not a time from 1ns to 4294967295s, a whole number with "
			 "ns, us, ms or s; left out");
		return;
	}
	if (time && specs->no_returns) {
		complain(TRIGGERS, wrong, item, length,
			 "how long calls take is known with LITIFUT_MODE=spans only; left out");
		return;
	}
	trigger.longer[0] = (uint32_t)time;
	trigger.longer[1] = (uint32_t)(time >> 32);
	if (specs->trigger_count == LITIFUT_TRIGGERS) {
		complain(TRIGGERS, wrong, item, length, "there are seven before it; left out");
		return;
	}
	specs->triggers[specs->trigger_count++] = trigger;
	spec.fields[0] = LITIFUT_ARGUMENT_FIELD(specs->trigger_count, LITIFUT_ARGUMENT_TRIGGER);
	add_spec(specs, item + begin, end - begin, &spec);
}

/* Is there `NAME:FIELD` in front of a blank? Names of C++ have colons and blanks as well. */
static bool has_item_before_blank(const char *item, const char *end)
{
	for (const char *blank = item; blank < end; blank++) {
		const char *colon;
		size_t bytes;

		if (!isspace((unsigned char)*blank))
			continue;
		colon = last_colon(item, (size_t)(blank - item));
		if (!colon || colon == item || colon[-1] == ':')
			continue;
		bytes = strcspn(colon + 1, ", \t");
		if (read_field(colon + 1, bytes) || (bytes == 1 && colon[1] == '*'))
			return true;
	}
	return false;
}

static void read_item(const char *item, size_t length, struct litifut_argument_specs *specs,
		      void (*wrong)(const char *line))
{
	const char *colon = last_colon(item, length);
	struct litifut_argument_spec spec = {0};

	if (!colon || colon == item) {
		complain(ARGUMENTS, wrong, item, length,
			 colon ? "no function in front of the colon; left out"
			       : "no colon between the function and its arguments; left out");
		return;
	}
	if (has_item_before_blank(item, colon)) {
		complain(ARGUMENTS, wrong, item, length,
			 "functions are separated by ; and not by blanks; left out");
		return;
	}
	if (!read_fields(item, length, colon + 1, &spec, wrong))
		return;
	add_spec(specs, item, (size_t)(colon - item), &spec);
}

/* What is written for one setting, item by item. */
static void
read_items(const char *text, struct litifut_argument_specs *specs, void (*wrong)(const char *line),
	   void (*read)(const char *item, size_t length, struct litifut_argument_specs *specs,
			void (*wrong)(const char *line)))
{
	const char *end = text + strcspn(text, "\n");

	while (text < end) {
		const char *stop = memchr(text, ';', (size_t)(end - text));
		const char *next = stop ? stop : end;
		size_t length;

		while (text < next && isspace((unsigned char)*text))
			text++;
		length = (size_t)(next - text);
		while (length && isspace((unsigned char)text[length - 1]))
			length--;
		if (length)
			read(text, length, specs, wrong);
		text = stop ? stop + 1 : end;
	}
}

void litifut_argument_specs_read(const char *text, struct litifut_argument_specs *specs,
				 void (*wrong)(const char *line))
{
	read_items(text, specs, wrong, read_item);
}

void litifut_argument_triggers_read(const char *text, struct litifut_argument_specs *specs,
				    void (*wrong)(const char *line))
{
	read_items(text, specs, wrong, read_trigger);
}

static bool is_trigger(uint8_t field)
{
	return LITIFUT_ARGUMENT_NUMBER(field) == LITIFUT_ARGUMENT_TRIGGER;
}

bool litifut_argument_is_longer(uint8_t field,
				const struct litifut_trigger triggers[LITIFUT_TRIGGERS])
{
	const struct litifut_trigger *trigger = &triggers[LITIFUT_ARGUMENT_TYPE(field) - 1];

	return is_trigger(field) && (trigger->longer[0] || trigger->longer[1]);
}

static bool is_result(uint8_t field, unsigned type)
{
	return LITIFUT_ARGUMENT_NUMBER(field) == LITIFUT_ARGUMENT_RETURN &&
	       (!type || LITIFUT_ARGUMENT_TYPE(field) == type);
}

/* Does `field` ask for nothing that `other` does not? The result is shown as what it is, if that is
 * known, and not as a plain number as well. */
static bool is_in(uint8_t field, uint8_t other)
{
	return field == other || (is_result(field, LITIFUT_ARGUMENT_PLAIN) && is_result(other, 0));
}

unsigned litifut_argument_fields_add(uint8_t fields[LITIFUT_ARGUMENT_FIELDS],
				     const uint8_t from[LITIFUT_ARGUMENT_FIELDS])
{
	unsigned left_out = 0;

	for (unsigned i = 0; i < LITIFUT_ARGUMENT_FIELDS && from[i]; i++) {
		unsigned at = 0;

		while (at < LITIFUT_ARGUMENT_FIELDS && fields[at] && !is_in(from[i], fields[at]) &&
		       !is_in(fields[at], from[i]))
			at++;
		if (at < LITIFUT_ARGUMENT_FIELDS && fields[at] && is_in(from[i], fields[at]))
			continue;
		if (at == LITIFUT_ARGUMENT_FIELDS) {
			left_out++;
			if (!is_trigger(from[i]))
				continue;
			/* there are fewer triggers than fields */
			for (at--; at && is_trigger(fields[at]);)
				at--;
		}
		fields[at] = from[i];
	}
	return left_out;
}

_Static_assert(LITIFUT_TRIGGERS < LITIFUT_ARGUMENT_FIELDS, "each trigger has a place");

unsigned litifut_argument_fields_keep(uint8_t fields[LITIFUT_ARGUMENT_FIELDS], int of_return,
				      const struct litifut_trigger triggers[LITIFUT_TRIGGERS])
{
	unsigned kept = 0;

	for (unsigned i = 0; i < LITIFUT_ARGUMENT_FIELDS && fields[i]; i++) {
		const uint8_t field = fields[i];
		const bool both = litifut_argument_is_longer(field, triggers);

		fields[i] = 0;
		if (both ||
		    (LITIFUT_ARGUMENT_NUMBER(field) == LITIFUT_ARGUMENT_RETURN) == !!of_return)
			fields[kept++] = field;
	}
	return kept;
}

void litifut_argument_specs_release(struct litifut_argument_specs *specs)
{
	for (size_t i = 0; i < specs->count; i++)
		free(specs->items[i].glob);
	free(specs->items);
	*specs = (struct litifut_argument_specs){0};
}
