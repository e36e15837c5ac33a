/* One table says which settings there are; the environment (LITIFUT_NAME) and
 * the configuration file (name, or LITIFUT_NAME) are two ways to fill it. */
#include "ldwrap/settings.h"

#include <ctype.h>
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include <libiberty/libiberty.h>

#include "common/nearest.h"
#include "ldwrap/defaults.h"
#include "litifut/module_format.h"
#include "litifut/settings.h"
#include "litifut/trace_format.h"

/* " NAME  NAME ", of those that have been reported. */
#define REPORTED_VARIABLE "LITIFUT_LD_REPORTED"

struct setting {
	const char *name; /* as in the environment, without LITIFUT_ */
	enum litifut_setting_kind kind;
	size_t offset;
};

#define SETTING(name, kind, member)                                                                \
	{name, LITIFUT_SETTING_##kind, offsetof(struct settings, member)},

static const struct setting setting_table[] = {LITIFUT_LINK_SETTINGS(SETTING)};

#define SETTING_COUNT (sizeof(setting_table) / sizeof(setting_table[0]))

static void warn_about(settings_warning *warn, const char *where, const char *message,
		       const char *value)
{
	char *line = xasprintf("%s: %s: %s", where, message, value);

	warn(line);
	free(line);
}

struct choice {
	const char *name; /* NULL: the end */
	unsigned value;
};

static const struct choice databases[] = {{"loaded", SETTINGS_DB_LOADED},
					  {"section", SETTINGS_DB_SECTION},
					  {"file", SETTINGS_DB_FILE},
					  {NULL, 0}};

static const struct choice engines[] = {
	{"thunk", LITIFUT_ENGINE_THUNK}, {"db", LITIFUT_ENGINE_DB}, {NULL, 0}};

/* Only a counter can be read by thunks; the recorder reads other clocks, which it is configured for
 * when the program runs. `page` is for tests. */
static const struct choice clocks[] = {{"none", LITIFUT_CLOCK_NONE},
				       {"mono", LITIFUT_CLOCK_NONE},
				       {"cycle", LITIFUT_CLOCK_CYCLE},
				       {"page", LITIFUT_CLOCK_PAGE},
				       {NULL, 0}};

static const struct choice modes[] = {
	{"calls", LITIFUT_MODE_CALLS},         {"spans", LITIFUT_MODE_SPANS},
	{"table", LITIFUT_MODE_TABLE},         {"counts", LITIFUT_MODE_COUNTS},
	{"stream", LITIFUT_MODE_STREAM},       {"coverage", LITIFUT_MODE_COVERAGE},
	{"paths", LITIFUT_MODE_PATHS},         {"units", LITIFUT_MODE_UNITS},
	{"balllarus", LITIFUT_MODE_BALLLARUS}, {NULL, 0}};

/* Sets `chosen`, or warns of a value that is not one of the choices and leaves it as it was. */
static void choose(const struct choice *choices, const char *value, unsigned *chosen,
		   const char *where, settings_warning *warn)
{
	const char *names[16];
	size_t count = 0;
	char *list = xstrdup("");

	for (const struct choice *one = choices; one->name; one++) {
		if (!strcmp(one->name, value)) {
			*chosen = one->value;
			free(list);
			return;
		}
		names[count++] = one->name;
		list = reconcat(list, list, count > 1 ? ", " : "", one->name, NULL);
	}
	names[count] = NULL;
	if (*value) {
		const char *nearest = litifut_name_nearest(value, names);
		char *line = concat(where, "=", value, ": ignored, as it is none of ", list,
				    nearest ? "; did you mean " : "", nearest ? nearest : "",
				    nearest ? "?" : "", NULL);

		warn(line);
		free(line);
	}
	free(list);
}

static void read_number(const char *value, unsigned *number, const char *where,
			settings_warning *warn)
{
	char *end;
	unsigned long read = strtoul(value, &end, 10);

	if (!isdigit((unsigned char)*value) || *end || read > UINT_MAX) {
		if (*value)
			warn_about(warn, where, "not a number, ignored", value);
		return;
	}
	*number = (unsigned)read;
}

static void add_items(char **items, const char *value)
{
	char *old = *items;

	if (!*value)
		return;
	*items = old ? concat(old, ";", value, NULL) : xstrdup(value);
	free(old);
}

/* `where` names the setting for messages. */
static void apply_setting(struct settings *settings, const struct setting *setting,
			  const char *value, const char *where, settings_warning *warn)
{
	char *field = (char *)settings + setting->offset;

	switch (setting->kind) {
	case LITIFUT_SETTING_LIST:
		text_list_append_split((struct text_list *)(void *)field, value);
		break;
	case LITIFUT_SETTING_TEXT:
	case LITIFUT_SETTING_OBJECT:
		free(*(char **)(void *)field);
		*(char **)(void *)field = *value ? xstrdup(value) : NULL;
		break;
	case LITIFUT_SETTING_ITEMS: /* of several lines as well, as a list is */
		add_items((char **)(void *)field, value);
		break;
	case LITIFUT_SETTING_NUMBER:
		read_number(value, (unsigned *)(void *)field, where, warn);
		break;
	case LITIFUT_SETTING_ON:
		if (!strcmp(value, "1"))
			*(bool *)field = true;
		else if (!strcmp(value, "0"))
			*(bool *)field = false;
		else if (*value)
			warn_about(warn, where, "neither 0 nor 1, ignored", value);
		break;
	case LITIFUT_SETTING_ENGINE:
		choose(engines, value, (unsigned *)(void *)field, where, warn);
		break;
	case LITIFUT_SETTING_DATABASE:
		choose(databases, value, (unsigned *)(void *)field, where, warn);
		break;
	case LITIFUT_SETTING_MODE:
		choose(modes, value, (unsigned *)(void *)field, where, warn);
		settings->calls_asked = !strcmp(value, "calls");
		break;
	case LITIFUT_SETTING_CLOCK:
		free(settings->clock_name);
		settings->clock_name = *value ? xstrdup(value) : NULL;
		break;
	default: /* only of the recorder */
		break;
	}
}

static const struct setting *find_setting(const char *name)
{
	if (!strncasecmp(name, "LITIFUT_", 8))
		name += 8;
	for (size_t i = 0; i < SETTING_COUNT; i++)
		if (!strcasecmp(name, setting_table[i].name))
			return &setting_table[i];
	return NULL;
}

static const char *environment_of(const struct setting *setting)
{
	char name[64];

	snprintf(name, sizeof(name), "LITIFUT_%s", setting->name);
	return getenv(name);
}

/* Cuts off a comment behind a blank. */
static char *without_comment(char *text)
{
	for (char *at = text; *at; at++)
		if (*at == '#' && at > text && isspace((unsigned char)at[-1]))
			*at = '\0';
	return text;
}

/* The text between quotes, if there are some around it. */
static char *unquoted(char *text)
{
	size_t length = strlen(text);

	if (length < 2 || text[0] != '"' || text[length - 1] != '"')
		return text;
	text[length - 1] = '\0';
	return text + 1;
}

static char *trim(char *text)
{
	size_t length;

	while (isspace((unsigned char)*text))
		text++;
	length = strlen(text);
	while (length && isspace((unsigned char)text[length - 1]))
		text[--length] = '\0';
	return text;
}

/* The setting that was probably meant, without LITIFUT_; NULL: none. The environment
 * has those of the recorder as well. */
static const char *nearest_setting(const char *name, bool environment)
{
	const char *names[64];
	size_t count = 0;

	for (size_t i = 0; i < SETTING_COUNT; i++)
		names[count++] = setting_table[i].name;
	if (environment) {
		count +=
			defaults_names(names + count, sizeof(names) / sizeof(names[0]) - 1 - count);
	}
	names[count] = NULL;
	return litifut_name_nearest(name, names);
}

static bool is_of_recorder(const char *key)
{
	char *name = concat(strncasecmp(key, "LITIFUT_", 8) ? "LITIFUT_" : "", key, NULL);
	bool known;

	for (char *letter = name; *letter; letter++)
		*letter = (char)toupper((unsigned char)*letter);
	known = defaults_know(name);
	free(name);
	return known;
}

static void warn_about_key(settings_warning *warn, const char *where, const char *key)
{
	bool of_recorder = is_of_recorder(key);
	const char *nearest = of_recorder ? NULL : nearest_setting(key, false);
	char *meant = xstrdup(nearest ? nearest : "");
	char *line;

	for (char *letter = meant; *letter; letter++)
		*letter = (char)tolower((unsigned char)*letter);
	line = concat(where, ": unknown key, ignored: ", key, nearest ? "; did you mean " : "",
		      meant, nearest ? "?" : "",
		      of_recorder ? "; the recorder's settings go into `defaults'" : "", NULL);
	warn(line);
	free(line);
	free(meant);
}

static void read_config(struct settings *settings, const char *path, settings_warning *warn)
{
	FILE *file = fopen(path, "r");
	char *line = NULL;
	size_t room = 0;
	unsigned number = 0;

	if (!file) {
		warn_about(warn, path, "can't be read", strerror(errno));
		return;
	}
	while (getline(&line, &room, file) >= 0) {
		const struct setting *setting;
		char *key = trim(line + (!number && !strncmp(line, "\xef\xbb\xbf", 3) ? 3 : 0));
		char *equals = strchr(key, '=');
		char *where;

		number++;
		if (!*key || *key == '#')
			continue;
		where = xasprintf("%s:%u", path, number);
		if (!equals) {
			warn_about(warn, where, "not `key = value', ignored", key);
			free(where);
			continue;
		}
		*equals = '\0';
		key = trim(key);
		setting = find_setting(key);
		if (!setting)
			warn_about_key(warn, where, key);
		else if (!environment_of(setting))
			apply_setting(settings, setting,
				      unquoted(trim(without_comment(equals + 1))), where, warn);
		free(where);
	}
	if (ferror(file))
		warn_about(warn, path, "can't be read", strerror(errno));
	free(line);
	fclose(file);
}

void settings_read(struct settings *settings, settings_warning *warn)
{
	const char *mode = getenv("LITIFUT");
	const char *config = getenv("LITIFUT_CONFIG");

	memset(settings, 0, sizeof(*settings));
	settings->engine = LITIFUT_ENGINE_THUNK;
	settings->tail_calls = true;
	if (!mode || !*mode || !strcmp(mode, "0"))
		return;
	if (strcmp(mode, "1")) {
		warn_about(warn, "LITIFUT", "neither 0 nor 1, so the link is plain", mode);
		return;
	}
	settings->mode = SETTINGS_REWRITE;
	if (config && *config)
		read_config(settings, config, warn);
	for (size_t i = 0; i < SETTING_COUNT; i++) {
		const char *value = environment_of(&setting_table[i]);
		char where[64];

		if (!value)
			continue;
		snprintf(where, sizeof(where), "LITIFUT_%s", setting_table[i].name);
		apply_setting(settings, &setting_table[i], value, where, warn);
	}
	if (settings->defaults)
		defaults_check(settings->defaults, warn);
	if (settings->recorded == LITIFUT_MODE_SPANS)
		settings_suit_returns(settings, warn);
	if (settings->recorder)
		settings_suit_recorder(settings, warn);
	if (settings->database != SETTINGS_DB_LOADED && settings->engine == LITIFUT_ENGINE_DB)
		text_list_append(&settings->remarks,
				 "LITIFUT_DB: the db engine needs its DB loaded, and gets it so");
}

void settings_suit(struct settings *settings, bool firmware, settings_warning *warn)
{
	const char *clock = settings->clock_name;

	if (settings->units.count && settings->recorded != LITIFUT_MODE_UNITS)
		warn("LITIFUT_UNITS: ignored, as it needs LITIFUT_MODE=units");
	if (settings->patterns && (!firmware || settings->recorded != LITIFUT_MODE_PATHS))
		warn("LITIFUT_PATTERNS: ignored, as it is for firmware with LITIFUT_MODE=paths");
	if (firmware) {
		settings_suit_arguments(settings, firmware, warn);
		if (settings->calls_asked)
			warn("LITIFUT_MODE: calls in order are not recorded of a firmware, "
			     "counts are; stream has an order");
		if (settings->compact && settings->recorded != LITIFUT_MODE_PATHS)
			warn("LITIFUT_COMPACT: of a firmware only what LITIFUT_MODE=paths records "
			     "is made compact");
		return;
	}
	if (settings->recorded == LITIFUT_MODE_STREAM) {
		warn("LITIFUT_MODE: stream is for firmware; calls, in order as well, are recorded");
		settings->recorded = LITIFUT_MODE_CALLS;
	}
	if (settings->recorded == LITIFUT_MODE_BALLLARUS) {
		warn("LITIFUT_MODE: balllarus is for firmware; paths, which leads to the same "
		     "numbers, is recorded");
		settings->recorded = LITIFUT_MODE_PATHS;
		if (settings->recorder)
			settings_suit_recorder(settings, warn);
	}
	if (settings->recorded == LITIFUT_MODE_UNITS && !settings->units.count) {
		warn("LITIFUT_MODE: units needs LITIFUT_UNITS, which names them, so calls are "
		     "recorded");
		settings->recorded = LITIFUT_MODE_CALLS;
	}
	if (clock)
		choose(clocks, clock, &settings->clock, "LITIFUT_CLOCK", warn);
	if (settings->recorded == LITIFUT_MODE_COUNTS && settings->recorder) {
		warn("LITIFUT_MODE: counts needs the recorder of LITIFUT, so calls are recorded");
		settings->recorded = LITIFUT_MODE_CALLS;
	}
	if (settings->recorded == LITIFUT_MODE_COUNTS && settings->engine == LITIFUT_ENGINE_DB) {
		text_list_append(&settings->remarks,
				 "LITIFUT_ENGINE: counts uses thunks wherever the CPU has them");
		settings->engine = LITIFUT_ENGINE_THUNK;
	}
	if (settings->recorded == LITIFUT_MODE_TABLE) {
		settings_suit_returns(settings, warn);
		if (settings->clock == LITIFUT_CLOCK_NONE)
			settings->clock = LITIFUT_CLOCK_CYCLE; /* a table is of times */
	}
	settings_suit_arguments(settings, firmware, warn);
}

/* Has a wrapper or `litifut build' before this one reported it? */
static bool is_reported(const char *name)
{
	const char *reported = getenv(REPORTED_VARIABLE);
	char *item = concat(" ", name, " ", NULL);
	bool found = reported && strstr(reported, item);

	free(item);
	return found;
}

static bool is_name_known(const char *name)
{
	/* of the wrapper, but none of the table above */
	static const char *const others[] = {"LITIFUT_LD_PASSED", "LITIFUT_LD_DIARY",
					     REPORTED_VARIABLE};
	const struct setting *setting = find_setting(name);

	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (!strcmp(name, others[i]))
			return true;
	return strncmp(name, "LITIFUT_", 8) || defaults_know(name) ||
	       (setting && !strcmp(name + 8, setting->name));
}

size_t settings_check_names(settings_warning *warn)
{
	const char *before = getenv(REPORTED_VARIABLE);
	char *reported = xstrdup(before ? before : "");
	size_t unknown = 0;

	for (char **item = environ; *item; item++) {
		char *name = xstrndup(*item, strcspn(*item, "="));

		if (!is_name_known(name) && !is_reported(name)) {
			const char *nearest = nearest_setting(name + 8, true);
			char *line = concat(name, ": no such setting, ignored",
					    nearest ? "; did you mean LITIFUT_" : "",
					    nearest ? nearest : "", nearest ? "?" : "", NULL);

			warn(line);
			free(line);
			unknown++;
			reported = reconcat(reported, reported, " ", name, " ", NULL);
		}
		free(name);
	}
	if (*reported)
		setenv(REPORTED_VARIABLE, reported, 1);
	free(reported);
	return unknown;
}

void settings_release(struct settings *settings)
{
	text_list_release(&settings->exclude);
	text_list_release(&settings->include);
	text_list_release(&settings->exclude_objects);
	text_list_release(&settings->exclude_libs);
	text_list_release(&settings->exclude_callees);
	text_list_release(&settings->include_objects);
	text_list_release(&settings->include_libs);
	text_list_release(&settings->units);
	text_list_release(&settings->remarks);
	free(settings->config);
	free(settings->recorder);
	free(settings->defaults);
	free(settings->port);
	free(settings->send);
	free(settings->stubs);
	free(settings->sample);
	free(settings->patterns);
	free(settings->start_at);
	free(settings->main_at);
	free(settings->task);
	free(settings->mark_set);
	free(settings->mark_clear);
	free(settings->clock_name);
	free(settings->arguments);
	free(settings->trigger);
	litifut_argument_specs_release(&settings->argument_specs);
	memset(settings, 0, sizeof(*settings));
}
