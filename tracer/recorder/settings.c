/* The recorder's settings: built-in, then those of the link, then those of the
 * environment, which is read from /proc because libc may not be up yet. */

#include <litifut/settings.h>
#include <stddef.h>

#include "tracer/recorder/recorder.h"
#include "tracer/port/linux/system.h"

#define LITIFUT_CHUNK_KB_LEAST 16 /* SHMLBA, see litifut_trace_create() */
#define LITIFUT_CHUNK_KB_MOST 4096

static uint32_t litifut_number(const char *text)
{
	uint32_t number = 0;

	for (; *text >= '0' && *text <= '9'; text++) {
		if (number > (UINT32_MAX - 9) / 10)
			return UINT32_MAX;
		number = number * 10 + (uint32_t)(*text - '0');
	}
	return number;
}

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

	if (length < size)
		litifut_copy(to, value, length + 1);
}

static uint32_t litifut_clock_named(const char *name)
{
	if (litifut_equal(name, "mono"))
		return LITIFUT_CLOCK_MONOTONIC;
	if (litifut_equal(name, "cycle"))
		return LITIFUT_CLOCK_CYCLE;
	return LITIFUT_CLOCK_NONE;
}

/* No pointers, so that it needs no relocation. */
struct litifut_setting {
	char name[9];
	uint8_t kind;
	uint16_t offset;
};

#define LITIFUT_SETTING(name, kind, member)                                                        \
	{name, LITIFUT_SETTING_##kind, offsetof(struct litifut_settings, member)},

static const struct litifut_setting litifut_setting_table[] = {LITIFUT_SETTINGS(LITIFUT_SETTING)};

static uint32_t litifut_setting_value(uint32_t kind, const char *value)
{
	switch (kind) {
	case LITIFUT_SETTING_CLOCK:
		return litifut_clock_named(value);
	case LITIFUT_SETTING_ON:
		return litifut_equal(value, "1");
	case LITIFUT_SETTING_OFF:
		return litifut_equal(value, "off");
	default:
		return litifut_number(value);
	}
}

/* Is it a value that somebody can have meant? An empty one is as good as none. */
static bool litifut_understood(uint32_t kind, const char *value)
{
	switch (kind) {
	case LITIFUT_SETTING_NUMBER:
		while (*value >= '0' && *value <= '9')
			value++;
		return !*value;
	case LITIFUT_SETTING_CLOCK:
		return !*value || litifut_equal(value, "none") ||
		       litifut_clock_named(value) != LITIFUT_CLOCK_NONE;
	case LITIFUT_SETTING_ON:
		return !*value || ((*value == '0' || *value == '1') && !value[1]);
	case LITIFUT_SETTING_OFF:
		return !*value || litifut_equal(value, "on") || litifut_equal(value, "off");
	default:
		return true;
	}
}

/* "LITIFUT_NAME=VALUE" of which there is no such NAME. Only told: it may be the linker
 * wrapper's. */
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

/* Takes one "LITIFUT_KEY=VALUE", or tells of it if there is no such key; anything else is not
 * ours and ignored. */
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

		value = litifut_value(setting, known->name);
		if (!value)
			continue;
		if (tell)
			return;
		litifut_recorder.settings.wrong &= ~(1u << i);
		if (!litifut_understood(known->kind, value))
			litifut_recorder.settings.wrong |= 1u << i;
		if (known->kind != LITIFUT_SETTING_TEXT && known->kind != LITIFUT_SETTING_PLACE)
			*(uint32_t *)place = litifut_setting_value(known->kind, value);
		else if (*value || known->kind == LITIFUT_SETTING_TEXT)
			litifut_set_text(place, LITIFUT_PATH_BYTES, value);
		return;
	}
	if (tell)
		litifut_tell_unknown(whole);
}

/* The 28th field of /proc/self/stat: where the stack was when the program
 * started, which is where the kernel put argc. 0 when it can't be had. */
static uint32_t litifut_start_of_stack(char *buffer, uint32_t size)
{
	long descriptor = litifut_open("/proc/self/stat", O_RDONLY, 0);
	uint32_t field = 0;
	uint32_t at = 0;
	long got;

	if (litifut_failed(descriptor))
		return 0;
	got = LITIFUT_CALL3(read, descriptor, buffer, size - 1);
	litifut_close(descriptor);
	if (got <= 0)
		return 0;
	buffer[got] = 0;
	/* The second field is the program's name in brackets, which may have
	 * spaces and brackets of its own. */
	for (uint32_t i = 0; buffer[i]; i++)
		if (buffer[i] == ')')
			at = i;
	for (field = 2; field < 28 && buffer[at]; at++)
		field += buffer[at] == ' ';
	return litifut_number(buffer + at);
}

const uint32_t *litifut_stack_environment(char *buffer, uint32_t size)
{
	uint32_t start = litifut_start_of_stack(buffer, size);
	const uint32_t *word = (const uint32_t *)start;

	if (!start || start & 3 || !litifut_readable(start & ~7u))
		return NULL;
	/* argc itself may be gone: ARM start-up code uses its place again */
	do
		word++;
	while (*word);
	return word + 1;
}

/* The environment as it was passed to the program, from the stack: libc may not
 * have started yet, and emulators do not always show the program's own in
 * /proc/self/environ. Else from there, one window at a time. */
static void litifut_read_environment(char *buffer, uint32_t size, bool tell)
{
	const uint32_t *strings = litifut_stack_environment(buffer, size);
	long descriptor;
	uint32_t kept = 0;

	for (; strings && *strings; strings++)
		litifut_set((const char *)*strings, tell);
	if (strings)
		return;
	descriptor = litifut_open("/proc/self/environ", O_RDONLY, 0);
	if (litifut_failed(descriptor))
		return;
	for (;;) {
		long got = LITIFUT_CALL3(read, descriptor, buffer + kept, size - 1 - kept);
		uint32_t start = 0;
		uint32_t end;

		if (got == -EINTR)
			continue;
		if (got <= 0)
			break;
		end = kept + (uint32_t)got;
		for (uint32_t at = start; at < end; at++) {
			if (buffer[at])
				continue;
			litifut_set(buffer + start, tell);
			start = at + 1;
		}
		kept = end - start;
		if (kept == size - 1) /* longer than the window: none of ours */
			kept = 0;
		litifut_copy(buffer, buffer + start, kept);
	}
	litifut_close(descriptor);
}

void litifut_settings_read(const char *defaults, char *scratch, uint32_t size)
{
	struct litifut_settings *settings = &litifut_recorder.settings;

	litifut_set_text(settings->directory, sizeof(settings->directory), "litifut-data");
	settings->clock = LITIFUT_CLOCK_UNSET;
	settings->bulk_kb = 64;
	settings->bloom_kb = 64;
	settings->compact = LITIFUT_COMPACT_SOME;
	while (*defaults) {
		litifut_set(defaults, false);
		defaults += litifut_length(defaults) + 1;
	}
	if (!litifut_recorder.secure)
		litifut_read_environment(scratch, size, false);
	litifut_tell_start();
	if (settings->verbose && !litifut_recorder.secure)
		litifut_read_environment(scratch, size, true);
	for (uint32_t i = 0; i < sizeof(litifut_setting_table) / sizeof(litifut_setting_table[0]);
	     i++)
		if (settings->wrong >> i & 1)
			litifut_tell("the value is not understood, of LITIFUT_",
				     litifut_setting_table[i].name, 0);
}

uint32_t litifut_settings_chunk_bytes(void)
{
	uint32_t wanted = litifut_recorder.settings.bulk_kb;
	uint32_t kb = LITIFUT_CHUNK_KB_LEAST;

	if (!wanted)
		wanted = 64;
	while (kb < wanted && kb < LITIFUT_CHUNK_KB_MOST)
		kb *= 2;
	return kb << 10;
}
