#include "postproc/energy/exercise.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "common/memory.h"

#define MOST_CALLS 32
#define MOST_LINE 256
#define MOST_LINES 64

struct list {
	const char *path;
	char includes[MOST_LINES][MOST_LINE], setups[MOST_LINES][MOST_LINE];
	char pause[MOST_LINE];
	char calls[MOST_CALLS][MOST_LINE];
	char names[MOST_CALLS][MOST_LINE]; /* of the functions that are called */
	unsigned include_count, setup_count, call_count;
};

static enum litifut_status wrong(const struct list *list, unsigned line, const char *what,
				 struct litifut_error *error)
{
	return litifut_error_set(error, LITIFUT_ERROR_FORMAT, list->path, NULL, LITIFUT_NO_ADDRESS,
				 "line %u: %s", line, what);
}

static bool is_word(int letter)
{
	return isalnum(letter) || letter == '_';
}

static unsigned called(const struct list *list, const char *name)
{
	unsigned count = 0;

	for (unsigned i = 0; i < list->call_count; i++)
		count += !strcmp(list->names[i], name);
	return count;
}

static enum litifut_status add_call(struct list *list, unsigned line, const char *text,
				    struct litifut_error *error)
{
	size_t length = 0;

	while (is_word((unsigned char)text[length]))
		length++;
	size_t end = strlen(text);
	if (!length || isdigit((unsigned char)*text) || text[length] != '(' || text[end - 1] != ')')
		return wrong(list, line, "a call is: call FUNCTION(ARGUMENTS)", error);
	if (list->call_count == MOST_CALLS)
		return wrong(list, line, "there are more than 32 calls", error);
	for (unsigned i = 0; i < list->call_count; i++) {
		if (!strcmp(list->calls[i], text))
			return wrong(list, line, "the call is there already", error);
	}
	snprintf(list->calls[list->call_count], MOST_LINE, "%s", text);
	snprintf(list->names[list->call_count], MOST_LINE, "%.*s", (int)length, text);
	list->call_count++;
	return LITIFUT_OK;
}

/* One line without blanks around it. */
static enum litifut_status take_line(struct list *list, unsigned line, const char *text,
				     struct litifut_error *error)
{
	size_t length = strcspn(text, " \t");
	const char *rest = text + length + strspn(text + length, " \t");

	if (!*text || *text == '#')
		return LITIFUT_OK;
	if (!*rest)
		return wrong(list, line, "a line is: include, setup, pause or call, and C", error);
	if (length == 4 && !strncmp(text, "call", length))
		return add_call(list, line, rest, error);
	if (length == 5 && !strncmp(text, "pause", length)) {
		if (*list->pause)
			return wrong(list, line, "there is a pause already", error);
		snprintf(list->pause, MOST_LINE, "%s", rest);
		return LITIFUT_OK;
	}
	bool include = length == 7 && !strncmp(text, "include", length);
	if (!include && (length != 5 || strncmp(text, "setup", length)))
		return wrong(list, line, "a line begins with include, setup, pause or call", error);
	unsigned *count = include ? &list->include_count : &list->setup_count;
	if (*count == MOST_LINES)
		return wrong(list, line, "there are more than 64 such lines", error);
	snprintf((include ? list->includes : list->setups)[(*count)++], MOST_LINE, "%s", rest);
	return LITIFUT_OK;
}

static enum litifut_status read_list(struct list *list, const char *text, size_t size,
				     struct litifut_error *error)
{
	enum litifut_status status = LITIFUT_OK;
	unsigned line = 0;

	for (const char *at = text, *end = text + size; at < end && !status;) {
		const char *next = memchr(at, '\n', (size_t)(end - at));
		const char *last = next ? next : end;
		char words[MOST_LINE];
		line++;
		while (at < last && isspace((unsigned char)*at))
			at++;
		while (last > at && isspace((unsigned char)last[-1]))
			last--;
		if (last - at >= MOST_LINE || memchr(at, '\0', (size_t)(last - at)))
			return wrong(list, line, "the line is too long, or not a text", error);
		memcpy(words, at, (size_t)(last - at));
		words[last - at] = '\0';
		status = take_line(list, line, words, error);
		at = next ? next + 1 : end;
	}
	if (!status && !list->call_count)
		status = wrong(list, line, "there is no call", error);
	if (!status && !*list->pause)
		status = wrong(list, line,
			       "there is no pause, which must be longer than the device is busy",
			       error);
	return status;
}

/* The function that is in the trace for this call: the called one, or, where it is called with
 * other arguments as well, one that does nothing else. */
static void put_name(FILE *file, const struct list *list, unsigned call)
{
	const char *text = list->calls[call];
	bool gap = false;

	if (called(list, list->names[call]) == 1) {
		fputs(list->names[call], file);
		return;
	}
	for (; *text; text++) {
		if (!is_word((unsigned char)*text)) {
			gap = true;
			continue;
		}
		if (gap)
			putc('_', file);
		gap = false;
		putc(*text, file);
	}
	/* f(-1) and f(1) */
	fprintf(file, "_%u", call + 1);
}

/* A walk through the complete graph of the calls that takes each edge, loops included, once: each
 * pair of calls follows each other in it, also from its end to its begin. */
static void put_order(FILE *file, unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		fprintf(file, "%s%u", i ? ",\n\t" : "\t", i);
		for (unsigned k = i + 1; k < count; k++)
			fprintf(file, ", %u, %u", i, k);
	}
	putc('\n', file);
}

enum litifut_status energy_exercise(FILE *file, const char *path, const char *text, size_t size,
				    unsigned repeats, struct litifut_error *error)
{
	struct list *list = calloc(1, sizeof(*list));

	if (!list)
		return litifut_error_set(error, LITIFUT_ERROR_IO, path, NULL, LITIFUT_NO_ADDRESS,
					 "not enough memory");
	list->path = path;
	enum litifut_status status = read_list(list, text, size, error);
	if (status) {
		free(list);
		return status;
	}
	fputs("/* Made by `litifut-post energy exercise`: each two calls of a device, one after "
	      "the "
	      "other, with a\n * pause. Call energy_exercise() once. */\n",
	      file);
	for (unsigned i = 0; i < list->include_count; i++)
		fprintf(file, "#include %s\n", list->includes[i]);
	fputs("\n#define CALL __attribute__((noinline, noclone))\n"
	      "/* so that it is not a tail call */\n#define END __asm__ volatile(\"\")\n\n"
	      "void energy_exercise(void);\nvoid energy_exercise_rests(void);\n"
	      "void energy_exercise_pause(void);\n\n"
	      "/* The device is at rest: a recorder can send its data here. */\n"
	      "CALL void energy_exercise_rests(void)\n{\n\tEND;\n}\n\n"
	      "CALL void energy_exercise_pause(void)\n{\n",
	      file);
	fprintf(file, "\t%s;\n\tenergy_exercise_rests();\n\tEND;\n}\n\n", list->pause);
	for (unsigned i = 0; i < list->call_count; i++) {
		if (called(list, list->names[i]) == 1)
			continue;
		fputs("void ", file);
		put_name(file, list, i);
		fputs("(void);\nCALL void ", file);
		put_name(file, list, i);
		fprintf(file, "(void)\n{\n\t%s;\n\tEND;\n}\n\n", list->calls[i]);
	}
	fputs("static const unsigned char order[] = {\n", file);
	put_order(file, list->call_count);
	fputs("};\n\nvoid energy_exercise(void)\n{\n", file);
	for (unsigned i = 0; i < list->setup_count; i++)
		fprintf(file, "\t%s;\n", list->setups[i]);
	fprintf(file,
		"\tenergy_exercise_pause();\n"
		"\tfor (unsigned round = 0; round < %u; round++) {\n"
		"\t\tfor (unsigned i = 0; i < sizeof(order); i++) {\n"
		"\t\t\tswitch (order[i]) {\n",
		repeats);
	for (unsigned i = 0; i < list->call_count; i++) {
		fprintf(file, "\t\t\tcase %u:\n\t\t\t\t", i);
		if (called(list, list->names[i]) == 1)
			fputs(list->calls[i], file);
		else {
			put_name(file, list, i);
			fputs("()", file);
		}
		fputs(";\n\t\t\t\tbreak;\n", file);
	}
	fputs("\t\t\t}\n\t\t\tenergy_exercise_pause();\n\t\t}\n\t}\n}\n", file);
	free(list);
	return LITIFUT_OK;
}
