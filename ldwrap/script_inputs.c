/* Free Pascal and some makefiles name all objects of a program in a script, not on the command
 * line. */
#include "ldwrap/script_inputs.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <libiberty/libiberty.h>

/* Scripts that people and tools write are far smaller. */
#define SCRIPT_BYTES_MAX (16u << 20)

bool script_is_read_once(const char *path)
{
	struct stat status;

	return !stat(path, &status) && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode);
}

/* NULL: it can't be read, or holds a zero, as no text does. */
static char *read_text(const char *path)
{
	FILE *file = script_is_read_once(path) ? NULL : fopen(path, "r");
	size_t size = 0;
	size_t room = 4096;
	size_t count;
	bool good = true;
	char *text;

	if (!file)
		return NULL;
	text = xmalloc(room);
	while (good && (count = fread(text + size, 1, room - size - 1, file))) {
		good = !memchr(text + size, 0, count) && size + count <= SCRIPT_BYTES_MAX;
		size += count;
		if (room - size < 2)
			text = xrealloc(text, room *= 2);
	}
	text[size] = '\0';
	if (!good) {
		free(text);
		text = NULL;
	}
	fclose(file);
	return text;
}

/* The next word or mark at *at, or NULL at the end; a name in quotes without these. Changes the
 * text. */
static const char *next_word(char **at, char *mark)
{
	char *word = *at;

	*mark = '\0';
	for (;;) {
		word += strspn(word, " \t\r\n,;");
		if (strncmp(word, "/*", 2))
			break;
		word = strstr(word, "*/");
		if (!word)
			return NULL;
		word += 2;
	}
	if (!*word)
		return NULL;
	if (strchr("(){}", *word)) {
		*mark = *word;
		*at = word + 1;
		return word;
	}
	if (*word == '"') {
		word++;
		*at = word + strcspn(word, "\"");
		if (**at)
			*(*at)++ = '\0';
		return word;
	}
	*at = word + strcspn(word, " \t\r\n;(){}\"");
	return word;
}

/* The names between the parentheses of an INPUT or GROUP, up to the last of these. */
static void append_names(char **at, struct text_list *paths)
{
	unsigned depth = 0;
	char mark;

	for (const char *word; (word = next_word(at, &mark));) {
		char *name;

		if (!depth && mark != '(')
			return; /* not followed by one */
		depth += mark == '(';
		if (mark && mark != '(' && !--depth)
			return;
		if (mark || depth > 1)
			continue;
		name = xstrndup(word, strlen(word) < (size_t)(*at - word) ? strlen(word)
									  : (size_t)(*at - word));
		if (!access(name, R_OK))
			text_list_append(paths, name);
		free(name);
	}
}

void script_inputs_append(const char *path, struct text_list *paths)
{
	char *text = read_text(path);
	char *at = text;
	unsigned depth = 0; /* of braces */
	char mark;

	for (const char *word; text && (word = next_word(&at, &mark));) {
		if (mark == '{')
			depth++;
		else if (mark == '}' && depth)
			depth--;
		else if (!depth && !mark && at - word == 5 &&
			 (!strncmp(word, "INPUT", 5) || !strncmp(word, "GROUP", 5)))
			append_names(&at, paths);
	}
	free(text);
}
