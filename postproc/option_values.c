#include "postproc/option_values.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

bool post_value_number(const char *text, uint64_t *value)
{
	char *end;

	if (*text < '0' || *text > '9')
		return false;
	errno = 0;
	*value = strtoull(text, &end, 10);
	return !*end && !errno;
}

bool post_value_numbers(uint32_t **numbers, size_t *count, const char *text)
{
	char *copy = post_copy_text(text), *rest = copy, *part;
	bool good = true;

	while ((part = strsep(&rest, ","))) {
		uint64_t value;
		if (!post_value_number(part, &value) || value > UINT32_MAX) {
			good = false;
			break;
		}
		*numbers = post_reallocate(*numbers, *count + 1, sizeof(**numbers));
		(*numbers)[(*count)++] = (uint32_t)value;
	}
	free(copy);
	return good;
}

/* A number with an optional K, M, G or T. */
bool post_value_size(const char *text, uint64_t *bytes)
{
	static const char units[] = "KMGT";
	char *end;

	if (*text < '0' || *text > '9')
		return false;
	*bytes = strtoull(text, &end, 10);
	const char *unit = *end ? strchr(units, *end) : NULL;
	if (!*end)
		return true;
	unsigned shift = unit ? 10 * (unsigned)(unit - units + 1) : 0;
	if (!unit || end[1] || *bytes > UINT64_MAX >> shift)
		return false;
	*bytes <<= shift;
	return true;
}

/* A number of things, at least one. */
bool post_value_count(const char *text, uint32_t *count)
{
	uint64_t number;

	if (!post_value_number(text, &number) || !number || number >= UINT32_MAX)
		return false;
	*count = (uint32_t)number;
	return true;
}

bool post_value_share(const char *text, double *share)
{
	char *end;

	*share = strtod(text, &end) / 100;
	if (*end == '%')
		end++;
	return end > text && !*end && *share >= 0 && *share <= 1000;
}

/* "1.5s", "20ms", "10us", "100ns" */
bool post_value_duration(const char *text, uint64_t *time)
{
	static const struct {
		const char *name;
		double ns;
	} units[] = {{"s", 1e9}, {"ms", 1e6}, {"us", 1e3}, {"ns", 1}};
	char *end;

	double value = strtod(text, &end);
	for (size_t i = 0; i < sizeof(units) / sizeof(*units) && end > text; i++) {
		if (strcmp(end, units[i].name) || !(value >= 0 && value * units[i].ns < 1e19))
			continue;
		*time = (uint64_t)(value * units[i].ns);
		return true;
	}
	return false;
}

/* "parse" or "parse#3": the first, the third call of a function. */
static bool parse_trigger(const char *text, struct post_trigger *trigger)
{
	const char *mark = strrchr(text, '#');

	trigger->number = 1;
	if (!*text || (*text >= '0' && *text <= '9') || mark == text)
		return false;
	if (mark && (!post_value_number(mark + 1, &trigger->number) || !trigger->number))
		return false;
	trigger->function = mark ? strndup(text, (size_t)(mark - text)) : post_copy_text(text);
	return true;
}

/* One end of the window: a plain number counts events, a unit makes it a time, all else is a
 * function. */
bool post_value_edge(const char *text, struct post_window *window, uint64_t *event, uint64_t *time,
		     struct post_trigger *trigger)
{
	free((char *)trigger->function);
	trigger->function = NULL;

	if (post_value_number(text, event)) {
		window->by_event = true;
		return !window->by_time;
	}
	if (post_value_duration(text, time)) {
		window->by_time = true;
		return !window->by_event;
	}
	return parse_trigger(text, trigger);
}

/* "#3", "1.5s", or a glob of functions. */
void post_value_phase(const char *text, struct post_phase *phase)
{
	*phase = (struct post_phase){.text = text};
	phase->by_mark = *text == '#' && post_value_number(text + 1, &phase->mark);
	phase->by_time = !phase->by_mark && post_value_duration(text, &phase->time_ns);
	if (!phase->by_mark && !phase->by_time)
		phase->function = text;
}

bool post_value_rows(const char *text, unsigned *rows)
{
	static const char *const names[] = {"function", "edge", "thread"};

	for (*rows = 0; *rows < 3; ++*rows) {
		if (!strcmp(text, names[*rows]))
			return true;
	}
	return false;
}

bool post_value_color(const char *when, bool *color)
{
	if (!when || !strcmp(when, "always"))
		*color = true;
	else if (!strcmp(when, "never"))
		*color = false;
	else if (strcmp(when, "auto"))
		return false;
	return true;
}
