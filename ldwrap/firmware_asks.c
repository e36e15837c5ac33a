#include "ldwrap/firmware_asks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Does the line begin with this name as a word? */
static bool names(const char *line, const char *name)
{
	size_t length = strlen(name);

	return !strncmp(line, name, length) && strchr(" \n", line[length]);
}

void firmware_asks_read(const char *map, struct firmware_asks *asks)
{
	static const char *const controls[] = {"litifut_start", "litifut_stop", "litifut_reset"};
	FILE *file = map ? fopen(map, "r") : NULL;
	char *line = NULL;
	size_t room = 0;
	bool inside = false;

	memset(asks, 0, sizeof(*asks));
	while (file && getline(&line, &room, file) >= 0) {
		inside |= !strcmp(line, "Cross Reference Table\n");
		if (!inside)
			continue;
		asks->switches |= names(line, "litifut_start") || names(line, "litifut_stop");
		asks->resets |= names(line, "litifut_reset");
		for (size_t i = 0; i < sizeof(controls) / sizeof(*controls); i++)
			if (!asks->control && names(line, controls[i]))
				asks->control = controls[i];
		asks->sends |= names(line, "litifut_send") || names(line, "litifut_send_some");
		asks->marks |= names(line, "litifut_mark");
	}
	free(line);
	if (file)
		fclose(file);
}
