/* Completion of words for bash, zsh and fish, from the tables of options. */
#include <string.h>

#include "common/options.h"

static bool is_last(const struct litifut_option *option)
{
	return !option->name && !option->help;
}

static bool is(const char *words, const char *what)
{
	return words && !strcmp(words, what);
}

/* In single quotes of a shell, where `also` may need a backslash. */
static void write_quoted(FILE *file, const char *text, const char *also)
{
	for (; *text; text++) {
		if (*text == '\'')
			fputs("'\\'", file);
		else if (strchr(also, *text))
			putc('\\', file);
		putc(*text, file);
	}
}

static void write_names(FILE *file, const struct litifut_option *options)
{
	for (; options && !is_last(options); options++) {
		if (!options->name)
			continue;
		fprintf(file, " --%s", options->name);
		if (options->code < LITIFUT_FIRST_LONG)
			fprintf(file, " -%c", options->code);
	}
}

/* What bash offers for a kind of word. */
static void write_bash_words(FILE *file, const char *words)
{
	if (!words)
		fputs("COMPREPLY=()", file);
	else if (is(words, LITIFUT_WORDS_FILE))
		fputs("COMPREPLY=($(compgen -f -- \"$cur\"))", file);
	else if (is(words, LITIFUT_WORDS_FOLDER))
		fputs("COMPREPLY=($(compgen -d -- \"$cur\"))", file);
	else
		fprintf(file, "COMPREPLY=($(compgen -W '%s' -- \"$cur\"))", words);
}

static void write_bash_command(FILE *file, const struct litifut_command *command)
{
	const struct litifut_option *option;

	fputs("\t\tcase $prev in\n", file);
	for (option = command->options; option && !is_last(option); option++) {
		if (!option->name || !option->argument || *option->argument == '[')
			continue;
		fprintf(file, "\t\t--%s", option->name);
		if (option->code < LITIFUT_FIRST_LONG)
			fprintf(file, "|-%c", option->code);
		fputs(") ", file);
		write_bash_words(file, option->words);
		fputs("; return ;;\n", file);
	}
	fputs("\t\tesac\n\t\tcase $cur in\n\t\t-*) COMPREPLY=($(compgen -W '", file);
	write_names(file, command->options);
	fputs("' -- \"$cur\")) ;;\n\t\t*) ", file);
	write_bash_words(file, command->words);
	fputs(" ;;\n\t\tesac\n", file);
}

/* In bash and zsh a function's name has no '-'. */
static void write_function(FILE *file, const char *program)
{
	putc('_', file);
	for (; *program; program++)
		putc(*program == '-' ? '_' : *program, file);
}

static void write_bash(FILE *file, const char *program, const struct litifut_command *commands)
{
	const struct litifut_command *command;

	fprintf(file, "# bash completion of %s\n", program);
	write_function(file, program);
	fputs("()\n{\n\tlocal cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}\n"
	      "\tlocal command=${COMP_WORDS[1]}\n"
	      "\t[ \"$COMP_CWORD\" -gt 1 ] || command=\n\tcase $command in\n",
	      file);
	for (command = commands + 1; command->name; command++) {
		fprintf(file, "\t%s)\n", command->name);
		write_bash_command(file, command);
		fputs("\t\treturn ;;\n", file);
	}
	fputs("\tesac\n", file);
	write_bash_command(file, commands);
	if (commands[1].name) {
		fputs("\tif [ \"$COMP_CWORD\" = 1 ]; then\n\t\tCOMPREPLY+=($(compgen -W '", file);
		for (command = commands + 1; command->name; command++)
			fprintf(file, " %s", command->name);
		fputs("' -- \"$cur\"))\n\tfi\n", file);
	}
	fputs("}\ncomplete -o filenames -F ", file);
	write_function(file, program);
	fprintf(file, " %s\n", program);
}

static void write_zsh_action(FILE *file, const char *words)
{
	if (is(words, LITIFUT_WORDS_FILE))
		fputs("_files", file);
	else if (is(words, LITIFUT_WORDS_FOLDER))
		fputs("_files -/", file);
	else if (words)
		fprintf(file, "(%s)", words);
	else
		putc(' ', file);
}

static void write_zsh_command(FILE *file, const struct litifut_command *command)
{
	const struct litifut_option *option;

	fputs("_arguments -s", file);
	for (option = command->options; option && !is_last(option); option++) {
		if (!option->name)
			continue;
		for (int letter = option->code < LITIFUT_FIRST_LONG; letter >= 0; letter--) {
			if (letter)
				fprintf(file, " \\\n\t\t'*-%c", option->code);
			else
				fprintf(file, " \\\n\t\t'*--%s%s", option->name,
					!option->argument          ? ""
					: *option->argument == '[' ? "=-"
								   : "=");
			putc('[', file);
			write_quoted(file, option->help, "[]:\\");
			putc(']', file);
			if (option->argument) {
				fprintf(file, "%s", *option->argument == '[' ? "::" : ":");
				fputs("value:", file);
				write_zsh_action(file, option->words);
			}
			putc('\'', file);
		}
	}
	fputs(" \\\n\t\t'*:word:", file);
	write_zsh_action(file, command->words);
	fputs("'\n", file);
}

static void write_zsh(FILE *file, const char *program, const struct litifut_command *commands)
{
	const struct litifut_command *command;

	fprintf(file, "#compdef %s\n", program);
	if (commands[1].name) {
		fputs("local -a commands=(\n", file);
		for (command = commands + 1; command->name; command++) {
			fputs("\t'", file);
			write_quoted(file, command->name, ":\\");
			putc(':', file);
			write_quoted(file, command->summary, ":\\");
			fputs("'\n", file);
		}
		fputs(")\nif (( CURRENT == 2 )) && [[ $PREFIX != -* ]]; then\n"
		      "\t_describe command commands\n",
		      file);
		if (commands->words)
			fputs("\t_files\n", file);
		fputs("\treturn\nfi\ncase $words[2] in\n", file);
		for (command = commands + 1; command->name; command++) {
			fprintf(file, "%s)\n\tshift words; (( CURRENT-- ))\n\t", command->name);
			write_zsh_command(file, command);
			fputs("\treturn ;;\n", file);
		}
		fputs("esac\n", file);
	}
	write_zsh_command(file, commands);
}

static void write_fish_options(FILE *file, const char *program, const char *condition,
			       const struct litifut_command *command)
{
	const struct litifut_option *option;

	for (option = command->options; option && !is_last(option); option++) {
		if (!option->name)
			continue;
		fprintf(file, "complete -c %s%s -l %s", program, condition, option->name);
		if (option->code < LITIFUT_FIRST_LONG)
			fprintf(file, " -s %c", option->code);
		if (option->argument && *option->argument != '[')
			fputs(is(option->words, LITIFUT_WORDS_FILE) ? " -rF" : " -x", file);
		if (is(option->words, LITIFUT_WORDS_FOLDER))
			fputs(" -a '(__fish_complete_directories)'", file);
		else if (option->words && !is(option->words, LITIFUT_WORDS_FILE))
			fprintf(file, " -a '%s'", option->words);
		fputs(" -d '", file);
		write_quoted(file, option->help, "\\");
		fputs("'\n", file);
	}
	if (command->words && !is(command->words, LITIFUT_WORDS_FILE) &&
	    !is(command->words, LITIFUT_WORDS_FOLDER))
		fprintf(file, "complete -c %s%s -a '%s'\n", program, condition, command->words);
}

static void write_fish(FILE *file, const char *program, const struct litifut_command *commands)
{
	const struct litifut_command *command;
	char condition[160];

	fprintf(file, "# fish completion of %s\n", program);
	write_fish_options(file, program, "", commands);
	for (command = commands + 1; command->name; command++) {
		fprintf(file, "complete -c %s -n __fish_use_subcommand -a %s -d '", program,
			command->name);
		write_quoted(file, command->summary, "\\");
		fputs("'\n", file);
		snprintf(condition, sizeof(condition), " -n '__fish_seen_subcommand_from %s'",
			 command->name);
		write_fish_options(file, program, condition, command);
	}
}

bool litifut_completion_write(FILE *file, const char *shell, const char *program,
			      const struct litifut_command *commands)
{
	if (!strcmp(shell, "bash"))
		write_bash(file, program, commands);
	else if (!strcmp(shell, "zsh"))
		write_zsh(file, program, commands);
	else if (!strcmp(shell, "fish"))
		write_fish(file, program, commands);
	else
		return false;
	return true;
}
