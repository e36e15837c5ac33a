/* The recorder's settings: built-in, then those of the link, then those of the
 * environment, which is read from /proc because libc may not be up yet. */

#include <stddef.h>

#include "tracer/recorder.h"
#include "tracer/system.h"

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

/* Takes one "LITIFUT_KEY=VALUE"; anything else is not ours and ignored. */
static void litifut_set(const char *setting)
{
	struct litifut_settings *settings = &litifut_recorder.settings;
	const char *value;

	for (const char *prefix = "LITIFUT_"; *prefix; prefix++, setting++)
		if (*setting != *prefix)
			return;
	if ((value = litifut_value(setting, "DIR")) && *value)
		litifut_set_text(settings->directory, sizeof(settings->directory), value);
	else if ((value = litifut_value(setting, "COPY_TO")))
		litifut_set_text(settings->copy_to, sizeof(settings->copy_to), value);
	else if ((value = litifut_value(setting, "BULK_KB")))
		settings->bulk_kb = litifut_number(value);
	else if ((value = litifut_value(setting, "MAX_MB")))
		settings->max_mb = litifut_number(value);
	else if ((value = litifut_value(setting, "BLOOM_KB")))
		settings->bloom_kb = litifut_number(value);
	else if ((value = litifut_value(setting, "SIGNAL")))
		settings->signal = litifut_number(value);
	else if ((value = litifut_value(setting, "DEDUP")))
		settings->dedup = litifut_equal(value, "1");
	else if ((value = litifut_value(setting, "START")))
		settings->start_off = litifut_equal(value, "off");
	else if ((value = litifut_value(setting, "CLOCK")))
		settings->clock = litifut_clock_named(value);
}

/* The environment as the program was started with, one window at a time. */
static void litifut_read_environment(char *buffer, uint32_t size)
{
	long descriptor = litifut_open("/proc/self/environ", O_RDONLY, 0);
	uint32_t kept = 0;

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
			litifut_set(buffer + start);
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
	settings->bulk_kb = 64;
	settings->bloom_kb = 64;
	while (*defaults) {
		litifut_set(defaults);
		defaults += litifut_length(defaults) + 1;
	}
	if (!litifut_recorder.secure)
		litifut_read_environment(scratch, size);
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
