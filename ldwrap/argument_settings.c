/* LITIFUT_ARGS, LITIFUT_ARGS_BYTES, LITIFUT_TRIGGER and LITIFUT_MARK_EVERY: read once it is known
 * what is recorded. */
#include "ldwrap/settings.h"

#include <stdlib.h>

#include <libiberty/libiberty.h>
#include <litifut/trace_format.h>

static void warn_of(settings_warning *warn, const char *setting, const char *why)
{
	char *line = concat(setting, why, "; left out", NULL);

	warn(line);
	free(line);
}

/* Of a program of Linux: milliseconds. (Of a firmware see firmware_pin.c.) */
static void suit_marks(struct settings *settings, settings_warning *warn)
{
	const char *why = NULL;

	if (!settings->mark_every)
		return;
	if (settings->recorder)
		why = " needs the recorder of LITIFUT";
	else if (settings->recorded != LITIFUT_MODE_SPANS)
		why = " needs LITIFUT_MODE=spans";
	else if (settings->mark_every < 2 || settings->mark_every > 1000000)
		why = ": from 2 to 1000000 milliseconds";
	if (!why)
		return;
	warn_of(warn, "LITIFUT_MARK_EVERY", why);
	settings->mark_every = 0;
}

void settings_suit_arguments(struct settings *settings, bool firmware, settings_warning *warn)
{
	struct litifut_argument_specs *specs = &settings->argument_specs;
	bool results = false;

	if (!firmware)
		suit_marks(settings, warn);
	if (!settings->arguments && !settings->trigger)
		return;
	if (firmware || settings->recorder ||
	    (settings->recorded != LITIFUT_MODE_CALLS &&
	     settings->recorded != LITIFUT_MODE_SPANS)) {
		const char *why = firmware ? " is for programs of Linux, not for a firmware"
				  : settings->recorder
					  ? " needs the recorder of LITIFUT; one of your own gets "
					    "the arguments in struct litifut_call"
					  : " needs LITIFUT_MODE=calls or spans";

		warn_of(warn, settings->arguments ? "LITIFUT_ARGS" : "LITIFUT_TRIGGER", why);
		return;
	}
	if (settings->arguments)
		litifut_argument_specs_read(settings->arguments, specs, warn);
	specs->no_returns = settings->recorded != LITIFUT_MODE_SPANS;
	if (settings->trigger)
		litifut_argument_triggers_read(settings->trigger, specs, warn);
	for (size_t i = 0; i < specs->count; i++)
		for (size_t f = 0; f < LITIFUT_ARGUMENT_FIELDS && specs->items[i].fields[f]; f++)
			results |= LITIFUT_ARGUMENT_NUMBER(specs->items[i].fields[f]) ==
				   LITIFUT_ARGUMENT_RETURN;
	if (results && settings->recorded != LITIFUT_MODE_SPANS)
		warn("LITIFUT_ARGS: what functions return (r) is recorded with "
		     "LITIFUT_MODE=spans only");
	if (settings->argument_bytes > LITIFUT_ARGUMENT_BYTES_MAX) {
		warn("LITIFUT_ARGS_BYTES: at most 960 bytes of a string are kept");
		settings->argument_bytes = LITIFUT_ARGUMENT_BYTES_MAX;
	}
	if (!settings->argument_bytes)
		settings->argument_bytes = LITIFUT_ARGUMENT_BYTES;
}
