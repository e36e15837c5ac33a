#include "ldwrap/firmware_asks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rewriter/tokens.h"

/* Does the line begin with this name as a word? */
static bool names(const char *line, const char *name)
{
	size_t length = strlen(name);

	return !strncmp(line, name, length) && strchr(" \n", line[length]);
}

void firmware_asks_read(const char *map, struct firmware_asks *asks)
{
	static const char *const switches[] = {"litifut_start", "litifut_stop"};
	FILE *file = map ? fopen(map, "r") : NULL;
	char *line = NULL;
	size_t room = 0;
	bool inside = false;

	memset(asks, 0, sizeof(*asks));
	while (file && getline(&line, &room, file) >= 0) {
		inside |= !strcmp(line, "Cross Reference Table\n");
		if (!inside)
			continue;
		for (size_t i = 0; i < sizeof(switches) / sizeof(*switches); i++)
			if (!asks->switches && names(line, switches[i]))
				asks->switches = switches[i];
		asks->starts |= names(line, "litifut_start");
		if (names(line, "litifut_reset"))
			asks->resets = "litifut_reset";
		asks->sends |= names(line, "litifut_send") || names(line, "litifut_send_some");
		asks->marks |= names(line, "litifut_mark");
		asks->tokens |= names(line, LITIFUT_TOKENS_SYMBOL);
	}
	free(line);
	if (file)
		fclose(file);
}
