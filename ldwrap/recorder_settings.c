/* Which modes there are with LITIFUT_RECORDER and with the db engine. */
#include "ldwrap/settings.h"

#include <litifut/module_format.h>
#include <litifut/trace_format.h>
#include <string.h>

#include "ldwrap/objects.h"

static bool takes_returns(const char *recorder)
{
	struct text_list names = {0};
	struct litifut_error error;
	bool found = false;

	object_defined_symbols(recorder, &names, &error);
	for (size_t i = 0; i < names.count && !found; i++)
		found = !strcmp(names.items[i], "litifut_record_return");
	text_list_release(&names);
	return found;
}

void settings_suit_returns(struct settings *settings, settings_warning *warn)
{
	const char *recorder = settings->recorder;

	if (settings->engine == LITIFUT_ENGINE_DB)
		warn("LITIFUT_MODE: the db engine records no returns");
	else if (!recorder)
		return;
	else if (settings->recorded == LITIFUT_MODE_TABLE)
		warn("LITIFUT_MODE: table needs the recorder of LITIFUT, so calls are recorded");
	else if (takes_returns(recorder))
		return;
	else
		warn("LITIFUT_MODE: this recorder has no litifut_record_return(), so it gets no "
		     "returns");
	settings->recorded = LITIFUT_MODE_CALLS;
}

void settings_suit_recorder(struct settings *settings, settings_warning *warn)
{
	if (settings->recorded == LITIFUT_MODE_PATHS)
		warn("LITIFUT_MODE: paths needs the recorder of LITIFUT, so calls are recorded");
	else if (settings->recorded == LITIFUT_MODE_UNITS)
		warn("LITIFUT_MODE: units needs the recorder of LITIFUT, so calls are recorded");
	else if (settings->recorded == LITIFUT_MODE_COVERAGE)
		warn("LITIFUT_MODE: coverage needs the recorder of LITIFUT, so calls are recorded");
	else
		return;
	settings->recorded = LITIFUT_MODE_CALLS;
}
