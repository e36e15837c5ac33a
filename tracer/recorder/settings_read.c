/* The recorder's settings: built-in, then those of the link, then those of the
 * environment, which is read from /proc because libc may not be up yet. */

#include "tracer/recorder/settings_read.h"

#include <litifut/settings.h>
#include <litifut/thunk_abi.h>
#include <litifut/trace_format.h>
#include <stdbool.h>
#include <stddef.h>

#include "tracer/port/linux/environment.h"
#include "tracer/port/linux/system.h"
#include "tracer/recorder/state.h"
#include "tracer/recorder/text.h"
#include "tracer/recorder/verbose.h"

#define LITIFUT_CHUNK_KB_LEAST 16 /* SHMLBA, see litifut_trace_create() */
#define LITIFUT_CHUNK_KB_MOST 4096

/* A handler that returns from one of these comes back to the instruction that has caused it. */
#define LITIFUT_FAULTS (1u << SIGILL | 1u << SIGTRAP | 1u << SIGBUS | 1u << SIGFPE | 1u << SIGSEGV)

_Static_assert((LITIFUT_CHUNK_KB_LEAST << 10) % LITIFUT_THUNK_STOP_BYTES == 0,
	       "thunks stop where a chunk ends");

/* "NAME=VALUE" with this name? Its value, or NULL. */
static const char *litifut_value(const char *setting, const char *name)
{
	while (*name && *setting == *name) {
		setting++;
		name++;
	}
	return !*name && *setting == '=' ? setting + 1 : NULL;
}

static void litifut_set_text(char *to, uint32_t size, const char *value)
{
	uint32_t length = litifut_length(value);

	/* What is too long leaves nothing: the recorder does not write to a place that was not
	 * asked for. */
	if (length < size)
		litifut_copy(to, value, length + 1);
	else
		to[0] = 0;
}

static uint32_t litifut_clock_named(const char *name)
{
	if (litifut_equal(name, "mono"))
		return LITIFUT_CLOCK_MONOTONIC;
	if (litifut_equal(name, "cycle"))
		return LITIFUT_CLOCK_CYCLE;
	if (litifut_equal(name, "page"))
		return LITIFUT_CLOCK_PAGE;
	return LITIFUT_CLOCK_NONE;
}

static uint32_t litifut_file_named(const char *name)
{
	if (litifut_equal(name, "map"))
		return LITIFUT_FILE_MAP;
	return litifut_equal(name, "write") ? LITIFUT_FILE_WRITE : LITIFUT_FILE_UNSET;
}

/* No pointers, so that it needs no relocation. */
struct litifut_setting {
	char name[9];
	uint8_t kind;
	uint16_t offset;
};

#define LITIFUT_SETTING(name, kind, member)                                                        \
	{name, LITIFUT_SETTING_##kind, offsetof(struct litifut_settings, member)},

static const struct litifut_setting litifut_setting_table[] = {
	LITIFUT_RUN_SETTINGS(LITIFUT_SETTING)};

/* Can the user have meant this value? An empty one counts as not set. */
static bool litifut_understood(uint32_t kind, const char *value)
{
	uint32_t signal;

	switch (kind) {
	case LITIFUT_SETTING_SIGNAL:
		signal = litifut_number(value);
		if (signal < 32 && LITIFUT_FAULTS >> signal & 1)
			return false;
		/* fall through */
	case LITIFUT_SETTING_NUMBER:
		while (*value >= '0' && *value <= '9')
			value++;
		return !*value;
	case LITIFUT_SETTING_CLOCK:
		return !*value || litifut_equal(value, "none") ||
		       litifut_clock_named(value) != LITIFUT_CLOCK_NONE;
	case LITIFUT_SETTING_FILE:
		return !*value || litifut_file_named(value);
	case LITIFUT_SETTING_ON:
		return !*value || ((*value == '0' || *value == '1') && !value[1]);
	case LITIFUT_SETTING_OFF:
		return !*value || litifut_equal(value, "on") || litifut_equal(value, "off");
	case LITIFUT_SETTING_NEVER:
		return !*value || litifut_equal(value, "auto") || litifut_equal(value, "never");
	default:
		return litifut_length(value) < LITIFUT_PATH_BYTES;
	}
}

static uint32_t litifut_setting_value(uint32_t kind, const char *value)
{
	switch (kind) {
	case LITIFUT_SETTING_CLOCK:
		return litifut_clock_named(value);
	case LITIFUT_SETTING_FILE:
		return litifut_file_named(value);
	case LITIFUT_SETTING_ON:
		return litifut_equal(value, "1");
	case LITIFUT_SETTING_OFF:
		return litifut_equal(value, "off");
	case LITIFUT_SETTING_NEVER:
		return litifut_equal(value, "never");
	default:
		return litifut_number(value);
	}
}

/* Reports a "LITIFUT_NAME=VALUE" whose NAME the recorder does not have. It may be a setting of the
 * linker wrapper. */
static void litifut_tell_unknown(const char *setting)
{
	char name[40];
	uint32_t length = 0;

	while (setting[length] && setting[length] != '=' && length < sizeof(name) - 1)
		length++;
	litifut_copy(name, setting, length);
	name[length] = 0;
	litifut_tell("the recorder has no setting ", name, 0);
}

/* Adds the NAME of "NAME=VALUE" to those of the header, if there is room for all of it. */
static void litifut_keep_unknown(const char *setting)
{
	char *unknown = litifut_recorder.settings.unknown;
	const uint32_t at = litifut_length(unknown);
	uint32_t length = 0;

	while (setting[length] && setting[length] != '=')
		length++;
	if (at + length + 1 >= LITIFUT_UNKNOWN_BYTES)
		return;
	litifut_copy(unknown + at, setting, length);
	unknown[at + length] = ' ';
}

/* Takes one "LITIFUT_KEY=VALUE", or reports what is wrong with it, as `tell' says; any other text
 * is ignored. */
static void litifut_set(const char *setting, bool tell)
{
	const char *whole = setting;
	const char *value;

	for (const char *prefix = "LITIFUT_"; *prefix; prefix++, setting++)
		if (*setting != *prefix)
			return;
	for (uint32_t i = 0; i < sizeof(litifut_setting_table) / sizeof(litifut_setting_table[0]);
	     i++) {
		const struct litifut_setting *known = &litifut_setting_table[i];
		char *place = (char *)&litifut_recorder.settings + known->offset;
		bool good;

		value = litifut_value(setting, known->name);
		if (!value)
			continue;
		good = litifut_understood(known->kind, value);
		if (tell) {
			if (!good)
				litifut_tell("wrong and ignored, see litifut(1): ", whole, 0);
			return;
		}
		litifut_recorder.settings.wrong &= ~(1u << i);
		litifut_recorder.settings.wrong |= (uint32_t)!good << i;
		if (known->kind == LITIFUT_SETTING_TEXT || known->kind == LITIFUT_SETTING_PLACE) {
			if (*value || known->kind == LITIFUT_SETTING_TEXT)
				litifut_set_text(place, LITIFUT_PATH_BYTES, value);
		} else if (good) {
			*(uint32_t *)place = litifut_setting_value(known->kind, value);
		}
		return;
	}
	if (tell)
		litifut_tell_unknown(whole);
	else
		litifut_keep_unknown(setting);
}

void litifut_settings_read(const char *defaults, char *scratch, uint32_t size)
{
	struct litifut_settings *settings = &litifut_recorder.settings;

	litifut_set_text(settings->directory, sizeof(settings->directory), "litifut-data");
	settings->clock = LITIFUT_CLOCK_UNSET;
	settings->bulk_kb = 64;
	settings->max_mb = LITIFUT_MAX_MB_UNSET;
	settings->bloom_kb = 64;
	settings->compact = LITIFUT_COMPACT_SOME;
	/* the second time, if that is asked for, to report what is wrong */
	for (bool tell = false;; tell = true) {
		for (const char *at = defaults; *at; at += litifut_length(at) + 1)
			litifut_set(at, tell);
		if (!litifut_recorder.secure)
			litifut_environment_each(scratch, size, litifut_set, tell);
		if (tell)
			break;
		litifut_tell_start();
		if (!settings->verbose)
			break;
	}
}

uint32_t litifut_settings_chunk_bytes(void)
{
	uint32_t wanted = litifut_recorder.settings.bulk_kb;
	uint32_t kb = LITIFUT_CHUNK_KB_LEAST;

	if (!wanted)
		wanted = 64;
	while (kb < wanted && kb < LITIFUT_CHUNK_KB_MOST)
		kb *= 2;
	/* a ring has some chunks at least */
	while (litifut_recorder.settings.ring_kb && kb > LITIFUT_CHUNK_KB_LEAST &&
	       kb * 8 > litifut_recorder.settings.ring_kb)
		kb /= 2;
	return kb << 10;
}
