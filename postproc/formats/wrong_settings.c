#include "postproc/formats/wrong_settings.h"

#include <litifut/settings.h>
#include <litifut/trace_format.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "common/nearest.h"
#include "postproc/timeline/timeline.h"

/* What a setting of a run takes, as far as its kind says so. */
static const char *values_of(enum litifut_setting_kind kind)
{
	switch (kind) {
	case LITIFUT_SETTING_NUMBER:
		return ": it takes a decimal number";
	case LITIFUT_SETTING_SIGNAL:
		return ": it takes the number of a signal that the CPU does not send";
	case LITIFUT_SETTING_CLOCK:
		return ": it takes none, mono or cycle";
	case LITIFUT_SETTING_FILE:
		return ": it takes map or write";
	case LITIFUT_SETTING_ON:
		return ": it takes 1 or 0";
	case LITIFUT_SETTING_OFF:
		return ": it takes on or off";
	case LITIFUT_SETTING_NEVER:
		return ": it takes auto or never";
	default:
		return "";
	}
}

static void each_value(uint32_t wrong, void (*tell)(void *, const char *), void *context)
{
#define ROW(name, kind, member) {name, LITIFUT_SETTING_##kind},
	static const struct {
		const char *name;
		enum litifut_setting_kind kind;
	} settings[] = {LITIFUT_RUN_SETTINGS(ROW)};
#undef ROW

	for (size_t i = 0; i < sizeof(settings) / sizeof(*settings); i++) {
		char line[160];

		if (!(wrong >> i & 1))
			continue;
		snprintf(line, sizeof(line),
			 "the recorder did not understand the value of LITIFUT_%s%s",
			 settings[i].name, values_of(settings[i].kind));
		tell(context, line);
	}
}

static void each_unknown(const char *unknown, void (*tell)(void *, const char *), void *context)
{
#define NAME(name, kind, member) name,
	static const char *const names[] = {LITIFUT_SETTINGS(NAME, NAME, NAME) NULL};
	static const char *const of_a_run[] = {LITIFUT_RUN_SETTINGS(NAME) NULL};
#undef NAME

	for (; *unknown; unknown += strcspn(unknown, " ") + 1) {
		char name[LITIFUT_UNKNOWN_BYTES], line[3 * LITIFUT_UNKNOWN_BYTES];
		const char *nearest;
		bool known = false;
		size_t length = strcspn(unknown, " ");

		/* a file from elsewhere may hold anything */
		if (length >= sizeof(name) ||
		    strspn(unknown, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789"
				    "abcdefghijklmnopqrstuvwxyz") != length)
			continue;
		memcpy(name, unknown, length);
		name[length] = '\0';
		for (size_t i = 0; names[i] && !known; i++)
			known = !strcmp(names[i], name);
		if (known)
			continue;
		nearest = litifut_name_nearest(name, of_a_run);
		snprintf(line, sizeof(line), "the recorder has no setting LITIFUT_%s%s%s%s", name,
			 nearest ? "; did you mean LITIFUT_" : "", nearest ? nearest : "",
			 nearest ? "?" : "");
		tell(context, line);
	}
}

void post_wrong_settings_each(const struct post_totals *totals,
			      void (*tell)(void *context, const char *line), void *context)
{
	each_value(totals->wrong_settings, tell, context);
	each_unknown(totals->unknown_settings, tell, context);
}
