/* Options for getopt and for people. */
#include "common/options.h"

#include <string.h>

#include "common/nearest.h"

#define TEXT_COLUMN 21
#define LINE_COLUMNS 80

static bool is_last(const struct litifut_option *option)
{
	return !option->name && !option->help;
}

static int argument_kind(const struct litifut_option *option)
{
	return !option->argument          ? no_argument
	       : *option->argument == '[' ? optional_argument
					  : required_argument;
}

void litifut_options_getopt(const struct litifut_option *options, struct option *list,
			    char *letters)
{
	char *letter = letters + strlen(letters);
	size_t count = 0;

	for (; !is_last(options) && count < LITIFUT_MOST_OPTIONS; options++) {
		int kind = argument_kind(options);
		if (!options->name)
			continue;
		list[count++] = (struct option){options->name, kind, NULL, options->code};
		if (options->code >= LITIFUT_FIRST_LONG)
			continue;
		*letter++ = (char)options->code;
		for (int colons = 0; colons < kind; colons++) /* one, or two: it may be left out */
			*letter++ = ':';
	}
	*letter = '\0';
	list[count] = (struct option){NULL, 0, NULL, 0};
}

/* Writes a text in lines that begin at a column; the first one is there already. */
static void write_wrapped(FILE *file, const char *text)
{
	int column = TEXT_COLUMN;

	while (*text) {
		int length = (int)strcspn(text, " ");
		if (column > TEXT_COLUMN && column + 1 + length > LINE_COLUMNS) {
			fprintf(file, "\n%*s", TEXT_COLUMN, "");
			column = TEXT_COLUMN;
		} else if (column > TEXT_COLUMN) {
			putc(' ', file);
			column++;
		}
		fwrite(text, 1, (size_t)length, file);
		column += length;
		text += length;
		text += strspn(text, " ");
	}
	putc('\n', file);
}

void litifut_options_help(FILE *file, const struct litifut_option *options)
{
	for (; !is_last(options); options++) {
		char head[80];
		if (!options->name) {
			fprintf(file, "\n%s\n", options->help);
			continue;
		}
		int used = options->code < LITIFUT_FIRST_LONG
				   ? snprintf(head, sizeof(head), "  -%c, --%s", options->code,
					      options->name)
				   : snprintf(head, sizeof(head), "  --%s", options->name);
		if (options->argument)
			snprintf(head + used, sizeof(head) - (size_t)used, "%s%s",
				 *options->argument == '[' ? "" : " ", options->argument);
		/* What is too long for its column has a line of its own. */
		if (strlen(head) + 2 > TEXT_COLUMN)
			fprintf(file, "%s\n%*s", head, TEXT_COLUMN, "");
		else
			fprintf(file, "%-*s", TEXT_COLUMN, head);
		write_wrapped(file, options->help);
	}
}

const char *litifut_option_nearest(const struct litifut_option *options, const char *word)
{
	const char *names[LITIFUT_MOST_OPTIONS + 1] = {NULL};
	char copy[64];
	size_t count = 0;

	word += strspn(word, "-");
	snprintf(copy, sizeof(copy), "%.*s", (int)strcspn(word, "="), word);
	for (; !is_last(options) && count < LITIFUT_MOST_OPTIONS; options++) {
		if (options->name)
			names[count++] = options->name;
	}
	return litifut_name_nearest(copy, names);
}

void litifut_usage_write(FILE *file, const char *head, const char *program,
			 const struct litifut_command *command)
{
	const char *line = command->arguments ? command->arguments : "";
	int width = (int)strlen(head);

	do {
		int length = (int)strcspn(line, "\n");
		fprintf(file, "%*s%s %s%s%.*s\n", width, head, program, command->name,
			length ? " " : "", length, line);
		line += length;
		head = "";
	} while (*line++);
}

void litifut_command_help(FILE *file, const char *program, const struct litifut_command *command)
{
	litifut_usage_write(file, "usage: ", program, command);
	fprintf(file, "%s.\n", command->summary);
	if (command->help)
		fprintf(file, "\n%s\n", command->help);
	if (command->options) {
		putc('\n', file);
		litifut_options_help(file, command->options);
	}
}

bool litifut_option_wrong(const struct litifut_option *options, int count, char *const *arguments,
			  bool incomplete, char *text, size_t size)
{
	const char *word = optind > 0 && optind <= count ? arguments[optind - 1] : "";
	/* optopt is 0 where there is no such option with a long name */
	bool is_long = optopt >= LITIFUT_FIRST_LONG || (optopt && !strncmp(word, "--", 2));
	const char *nearest = optopt || incomplete ? NULL : litifut_option_nearest(options, word);

	if (incomplete || is_long)
		snprintf(text, size, "%s %s",
			 incomplete ? "an argument is missing behind"
				    : "no argument is possible in",
			 word);
	else if (optopt)
		snprintf(text, size, "no such option: -%c", optopt);
	else
		snprintf(text, size, "no such option: %s%s%s%s", word,
			 nearest ? "; did you mean --" : "", nearest ? nearest : "",
			 nearest ? "?" : "");
	return nearest;
}
