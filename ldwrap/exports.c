/* One recorder for each process. Every traced module brings one, and the
 * dynamic linker makes all of them use the first, like any symbol, if it can
 * see them. Three things would hide it:
 *
 * - An executable exports only what the libraries on its own link ask for;
 *   libraries that it loads later would not find its recorder. So it is named
 *   in a dynamic list (--export-dynamic-symbol is younger than many toolchains).
 * - A library with a version script exports only what that names. A script with
 *   named versions can be joined by another one; an anonymous one can't, so a
 *   copy of it with our names put in takes its place.
 * - A library linked with -Bsymbolic prefers its own. A dynamic list excepts
 *   symbols from that. */
#include "ldwrap/exports.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <libiberty/libiberty.h>

#include "ldwrap/process.h"

/* The last one is a pattern, as few recorders have such a function, and linkers warn of a name that
 * is nowhere defined, or refuse it. */
#define NAMES                                                                                      \
	"litifut_record_trace; litifut_module_enter; litifut_module_leave; litifut_start; "        \
	"litifut_stop; litifut_record_return*;"

static enum litifut_status write_text(const char *path, const char *first, size_t first_bytes,
				      const char *middle, const char *last,
				      struct litifut_error *error)
{
	FILE *file = fopen(path, "w");

	if (file) {
		fwrite(first, 1, first_bytes, file);
		fputs(middle, file);
		fputs(last, file);
		if (!ferror(file) && !fclose(file))
			return LITIFUT_OK;
	}
	return litifut_error_set(error, LITIFUT_ERROR_IO, path, NULL, LITIFUT_NO_ADDRESS,
				 "can't be written: %s", strerror(errno));
}

/* The whole file with a NUL behind it, or NULL. */
static char *read_text(const char *path)
{
	FILE *file = fopen(path, "r");
	char *text = NULL;
	size_t size = 0;

	if (!file)
		return NULL;
	for (size_t got = 1; got;) {
		text = xrealloc(text, size + 65536);
		got = fread(text + size, 1, 65535, file);
		size += got;
		text[size] = '\0';
	}
	fclose(file);
	return text;
}

static const char *skip_blanks(const char *text)
{
	for (;;) {
		if (isspace((unsigned char)*text))
			text++;
		else if (*text == '#')
			text += strcspn(text, "\n");
		else if (!strncmp(text, "/*", 2) && strstr(text + 2, "*/"))
			text = strstr(text + 2, "*/") + 2;
		else
			return text;
	}
}

/* Where names can be put into an anonymous version script, and with which label
 * before them; NULL for a script with named versions. The grammar is
 * "{ [global:] NAME; ... [local: NAME; ...] };". */
static const char *anonymous_place(const char *text, const char **label)
{
	const char *colon;

	text = skip_blanks(text);
	if (*text != '{')
		return NULL;
	text = skip_blanks(text + 1);
	*label = "";
	if (!strncmp(text, "local", 5) && *skip_blanks(text + 5) == ':') {
		*label = "global: ";
	} else if (!strncmp(text, "global", 6)) {
		colon = skip_blanks(text + 6);
		if (*colon == ':')
			text = colon + 1;
	}
	return text;
}

static bool is_symbolic(const struct arguments *arguments)
{
	for (int i = 1; i < arguments->word_count; i++) {
		const char *word = arguments->words[i];

		if (!strncmp(word, "-Bsymbolic", 10) || !strncmp(word, "--Bsymbolic", 11))
			return true;
	}
	return false;
}

static enum litifut_status add_dynamic_list(struct exports *exports, struct litifut_error *error)
{
	const char *path = scratch_file("litifut-exports.list");
	char *word = concat("--dynamic-list=", path, NULL);

	text_list_append(&exports->words, word);
	free(word);
	return write_text(path, "{ ", 2, NAMES, " };\n", error);
}

static enum litifut_status add_version_script(struct exports *exports, const char *path,
					      struct litifut_error *error)
{
	const char *ours = scratch_file("litifut-exports.version");
	char *word = concat("--version-script=", ours, NULL);
	char *text = read_text(path);
	const char *label = "";
	const char *place = text ? anonymous_place(text, &label) : NULL;
	char *names = concat(" ", label, NAMES, " ", NULL);
	enum litifut_status status;

	text_list_append(&exports->words, word);
	free(word);
	exports->replaces_version_script = place != NULL;
	if (place)
		status = write_text(ours, text, (size_t)(place - text), names, place, error);
	else
		status = write_text(ours, "LITIFUT_1 { global: ", strlen("LITIFUT_1 { global: "),
				    NAMES, " };\n", error);
	free(names);
	free(text);
	return status;
}

enum litifut_status exports_prepare(const struct arguments *arguments, struct exports *exports,
				    struct litifut_error *error)
{
	const struct argument *script = arguments_last(arguments, ARGUMENT_VERSION_SCRIPT);
	enum litifut_status status = LITIFUT_OK;

	memset(exports, 0, sizeof(*exports));
	if (!arguments_last(arguments, ARGUMENT_SHARED))
		return arguments_are_static(arguments) ? LITIFUT_OK
						       : add_dynamic_list(exports, error);
	if (is_symbolic(arguments))
		status = add_dynamic_list(exports, error);
	if (!status && script)
		status = add_version_script(exports, script->value, error);
	return status;
}

void exports_release(struct exports *exports)
{
	text_list_release(&exports->words);
}
