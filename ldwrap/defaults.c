#include "ldwrap/defaults.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <libiberty/libiberty.h>

#include "common/nearest.h"
#include "litifut/settings.h"

struct known {
	const char *name;
	enum litifut_setting_kind kind;
};

#define KNOWN(name, kind, member) {"LITIFUT_" name, LITIFUT_SETTING_##kind},
static const struct known known_settings[] = {LITIFUT_RUN_SETTINGS(KNOWN)};

static const struct known *find(const char *setting, size_t length)
{
	for (size_t i = 0; i < sizeof(known_settings) / sizeof(known_settings[0]); i++)
		if (strlen(known_settings[i].name) == length &&
		    !strncmp(known_settings[i].name, setting, length))
			return &known_settings[i];
	return NULL;
}

bool defaults_know(const char *name)
{
	return find(name, strlen(name)) != NULL;
}

size_t defaults_names(const char **names, size_t room)
{
	size_t count = sizeof(known_settings) / sizeof(known_settings[0]);

	if (count > room)
		count = room;
	for (size_t i = 0; i < count; i++)
		names[i] = known_settings[i].name + strlen("LITIFUT_");
	return count;
}

/* Can it be meant for a program that the build runs, or is it used by the link as well? */
static bool suits_a_build(const struct known *known, const char *value)
{
	static const char *const of_builds[] = {"LITIFUT_DIR", "LITIFUT_COPY_TO", "LITIFUT_DIR_MB",
						"LITIFUT_VERBOSE"};

	for (size_t i = 0; i < sizeof(of_builds) / sizeof(of_builds[0]); i++)
		if (!strcmp(known->name, of_builds[i]))
			return true;
	/* without a clock, the code at the call sites is another one */
	return known->kind == LITIFUT_SETTING_CLOCK && strcmp(value, "mono");
}

char *defaults_in_environment(const char *defaults)
{
	char *names = NULL;

	for (size_t i = 0; i < sizeof(known_settings) / sizeof(known_settings[0]); i++) {
		const struct known *known = &known_settings[i];
		const char *value = getenv(known->name);

		if (!value || !*value || suits_a_build(known, value) ||
		    (defaults && strstr(defaults, known->name)))
			continue;
		names = names ? reconcat(names, names, ", ", known->name, NULL)
			      : xstrdup(known->name);
	}
	return names;
}

static bool is_one_of(const char *value, const char *const *values)
{
	for (; *values; values++)
		if (!strcmp(value, *values))
			return true;
	return false;
}

/* What is wrong with the value; NULL: nothing. */
static const char *complaint(enum litifut_setting_kind kind, const char *value)
{
	static const char *const clocks[] = {"none", "mono", "cycle", NULL};
	static const char *const files[] = {"map", "write", NULL};
	static const char *const switches[] = {"0", "1", NULL};
	static const char *const starts[] = {"on", "off", NULL};
	static const char *const needs[] = {"auto", "never", NULL};

	switch (kind) {
	case LITIFUT_SETTING_NUMBER:
	case LITIFUT_SETTING_SIGNAL: /* the numbers differ between CPUs */
		return *value && !value[strspn(value, "0123456789")] ? NULL : "no number";
	case LITIFUT_SETTING_CLOCK:
		return is_one_of(value, clocks) ? NULL : "neither none, mono nor cycle";
	case LITIFUT_SETTING_FILE:
		return is_one_of(value, files) ? NULL : "neither map nor write";
	case LITIFUT_SETTING_ON:
		return is_one_of(value, switches) ? NULL : "neither 0 nor 1";
	case LITIFUT_SETTING_OFF:
		return is_one_of(value, starts) ? NULL : "neither on nor off";
	case LITIFUT_SETTING_NEVER:
		return is_one_of(value, needs) ? NULL : "neither auto nor never";
	default:
		return NULL;
	}
}

/* The setting that is most like the one that does not exist, without LITIFUT_; NULL: none is. */
static const char *nearest_name(const char *setting, size_t length)
{
	const char *names[sizeof(known_settings) / sizeof(known_settings[0]) + 1] = {NULL};
	const size_t prefix = strncmp(setting, "LITIFUT_", 8) ? 0 : 8;
	char *word;
	const char *nearest;

	if (prefix >= length)
		return NULL;
	word = xstrndup(setting + prefix, length - prefix);
	defaults_names(names, sizeof(names) / sizeof(names[0]) - 1);
	nearest = litifut_name_nearest(word, names);
	free(word);
	return nearest;
}

static void check(const char *setting, void (*warn)(const char *line))
{
	const size_t length = strcspn(setting, "=");
	const struct known *known = find(setting, length);
	const char *wrong = NULL;
	const char *nearest = known ? NULL : nearest_name(setting, length);
	char *line;

	if (!setting[length])
		wrong = "not NAME=VALUE";
	else if (!known)
		wrong = "the recorder has no such setting";
	else
		wrong = complaint(known->kind, setting + length + 1);
	if (!wrong)
		return;
	line = xasprintf("LITIFUT_DEFAULTS: %s: %s%s%s%s", wrong, setting,
			 nearest ? "; did you mean LITIFUT_" : "", nearest ? nearest : "",
			 nearest ? "?" : "");
	warn(line);
	free(line);
}

void defaults_check(const char *text, void (*warn)(const char *line))
{
	char *words = xstrdup(text);
	char *rest = words;

	for (char *word; (word = strtok_r(rest, " \t\n", &rest));)
		check(word, warn);
	free(words);
}
