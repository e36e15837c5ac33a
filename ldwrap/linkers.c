#include "ldwrap/linkers.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <libiberty/libiberty.h>

#include "ldwrap/process.h"

/* GNU ld is the last, as others say that they are compatible with it. */
static const struct linker_kind kinds[] = {
	{
		.name = "gold",
		.program = "ld.gold",
		.banner = "GNU gold",
		.read_map = map_read_gnu,
		.readers_run = true,
		.low_programs = true,
		/* It fails where it merges such entries, and those of the tracer are alike. */
		.relocations_word = "--no-merge-exidx-entries",
	},
	{
		.name = "lld",
		.program = "ld.lld",
		.banner = "LLD",
		.read_map = map_read_lld,
		.replaces_output = true,
		.refuses_unwind_table = true,
	},
	{
		.name = "mold",
		.program = "ld.mold",
		.banner = "mold",
		.read_map = map_read_mold,
		.replaces_output = true,
		.drops_attributes = true,
	},
	{
		.name = "GNU ld",
		.program = "ld.bfd",
		.banner = "GNU ld",
		.read_map = map_read_gnu,
		.takes_script = true,
		.names_map = true,
	},
};

const char *linkers_plain_name(size_t index)
{
	if (!index)
		return "ld";
	return index <= sizeof(kinds) / sizeof(kinds[0]) ? kinds[index - 1].program : NULL;
}

bool linkers_is_plain_name(const char *name)
{
	const char *known;

	for (size_t i = 0; (known = linkers_plain_name(i)); i++)
		if (!strcmp(name, known))
			return true;
	return false;
}

const char *linkers_plain_names(void)
{
	static char names[256];

	*names = '\0';
	for (size_t i = 0; linkers_plain_name(i); i++)
		snprintf(names + strlen(names), sizeof(names) - strlen(names), "%s%s",
			 i ? ", " : "", linkers_plain_name(i));
	return names;
}

/* A word between other letters: "mold" of "mold" and "ld.mold", but not of "remolded". */
static bool has_word(const char *text, const char *word)
{
	size_t length = strlen(word);

	for (const char *at = text; (at = strstr(at, word)); at++)
		if ((at == text || !isalpha((unsigned char)at[-1])) &&
		    !isalpha((unsigned char)at[length]))
			return true;
	return false;
}

static const struct linker_kind *by_name(const char *name)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (has_word(name, kinds[i].program + strlen("ld.")))
			return &kinds[i];
	return NULL;
}

static const struct linker_kind *by_answer(const char *path, const char *name)
{
	const char *answer = scratch_file("version");
	char *words[] = {(char *)name, (char *)"--version", NULL};
	const struct linker_kind *found = NULL;
	char line[256];
	FILE *file;

	if (process_run(path, words, answer, "/dev/null"))
		return NULL;
	file = fopen(answer, "r");
	if (file && fgets(line, sizeof(line), file))
		for (size_t i = 0; !found && i < sizeof(kinds) / sizeof(kinds[0]); i++)
			if (has_word(line, kinds[i].banner))
				found = &kinds[i];
	if (file)
		fclose(file);
	return found;
}

const struct linker_kind *linkers_recognise(const char *path, const char *name)
{
	char *real = realpath(path, NULL);
	const struct linker_kind *kind = real ? by_name(lbasename(real)) : NULL;

	free(real);
	if (!kind)
		kind = by_name(lbasename(name));
	return kind ? kind : by_answer(path, name);
}
