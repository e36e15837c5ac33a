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
	else if (is(words, LITIFUT_WORDS_COMMAND))
		fputs("COMPREPLY=($(compgen -c -- \"$cur\"))", file);
	else if (is(words, LITIFUT_WORDS_ARGUMENTS))
		fputs("if declare -F _command_offset >/dev/null; then _command_offset \"$at\"; "
		      "else COMPREPLY=($(compgen -f -- \"$cur\")); fi",
		      file);
	else if (is(words, LITIFUT_WORDS_TOOLCHAIN))
		fputs("COMPREPLY=($(compgen -c -- \"$cur\" | sed -n 's/-ld$//p' | sort -u) "
		      "$(compgen -f -- \"$cur\"))",
		      file);
	else
		fprintf(file, "COMPREPLY=($(compgen -W '%s' -- \"$cur\"))", words);
}

static bool has_value(const struct litifut_option *option)
{
	return option->name && option->argument && *option->argument != '[';
}

/* "--name=|--name|-n) ": a value that may be left out is behind = only. */
static void write_bash_option(FILE *file, const struct litifut_option *option)
{
	fprintf(file, "\t\t--%s=", option->name);
	if (has_value(option))
		fprintf(file, "|--%s", option->name);
	if (has_value(option) && option->code < LITIFUT_FIRST_LONG)
		fprintf(file, "|-%c", option->code);
	fputs(") ", file);
}

/* Behind the first word that is not an option or the value of one, other words follow. */
static void write_bash_then(FILE *file, const struct litifut_command *command)
{
	const struct litifut_option *option;

	fputs("\t\tlocal at=2\n\t\twhile [ \"$at\" -lt \"$COMP_CWORD\" ]; do\n"
	      "\t\tcase ${COMP_WORDS[at]} in\n",
	      file);
	for (option = command->options; option && !is_last(option); option++) {
		if (!has_value(option))
			continue;
		write_bash_option(file, option);
		fputs("at=$((at + 2)); [ \"${COMP_WORDS[at-1]}\" != = ] || at=$((at + 1)) ;;\n",
		      file);
	}
	fputs("\t\t-*) at=$((at + 1)) ;;\n\t\t*) break ;;\n\t\tesac\n\t\tdone\n"
	      "\t\tif [ \"$at\" -lt \"$COMP_CWORD\" ]; then\n\t\t\t",
	      file);
	write_bash_words(file, command->then);
	fputs("\n\t\t\treturn\n\t\tfi\n", file);
}

static void write_bash_command(FILE *file, const struct litifut_command *command)
{
	const struct litifut_option *option;

	if (command->then)
		write_bash_then(file, command);
	fputs("\t\tcase $prev in\n", file);
	for (option = command->options; option && !is_last(option); option++) {
		if (!option->name || !option->argument)
			continue;
		write_bash_option(file, option);
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
	      "\tif [ \"$cur\" = = ]; then\n\t\tcur= prev+==\n" /* as bash splits --name=value */
	      "\telif [ \"$prev\" = = ]; then\n\t\tprev=${COMP_WORDS[COMP_CWORD-2]}=\n\tfi\n"
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
	else if (is(words, LITIFUT_WORDS_COMMAND))
		fputs("_command_names -e", file);
	else if (is(words, LITIFUT_WORDS_ARGUMENTS))
		fputs("_normal", file);
	else if (is(words, LITIFUT_WORDS_TOOLCHAIN))
		fputs("{compadd -- ${${(k)commands[(I)*-ld]}%-ld}; _files}", file);
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
	if (command->then) {
		fprintf(file, " \\\n\t\t'%s1:word:",
			is(command->then, LITIFUT_WORDS_ARGUMENTS) ? "(-)" : "");
		write_zsh_action(file, command->words);
		putc('\'', file);
	}
	/* zsh completes what follows such a command as the arguments of that command */
	fprintf(file, " \\\n\t\t'*%s:word:", is(command->then, LITIFUT_WORDS_ARGUMENTS) ? ":" : "");
	write_zsh_action(file, command->then ? command->then : command->words);
	fputs("'\n", file);
}

static void write_zsh(FILE *file, const char *program, const struct litifut_command *commands)
{
	const struct litifut_command *command;

	fprintf(file, "#compdef %s\n", program);
	if (commands[1].name) {
		fputs("local -a known=(\n", file);
		for (command = commands + 1; command->name; command++) {
			fputs("\t'", file);
			write_quoted(file, command->name, ":\\");
			putc(':', file);
			write_quoted(file, command->summary, ":\\");
			fputs("'\n", file);
		}
		fputs(")\nif (( CURRENT == 2 )) && [[ $PREFIX != -* ]]; then\n"
		      "\t_describe command known\n",
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
		else if (option->argument)
			fputs(" -f", file);
		if (is(option->words, LITIFUT_WORDS_FOLDER))
			fputs(" -a '(__fish_complete_directories)'", file);
		else if (option->words && !is(option->words, LITIFUT_WORDS_FILE))
			fprintf(file, " -a '%s'", option->words);
		fputs(" -d '", file);
		write_quoted(file, option->help, "\\");
		fputs("'\n", file);
	}
	if (is(command->words, LITIFUT_WORDS_COMMAND))
		fprintf(file, "complete -c %s%s -xa '(__fish_complete_subcommand --fcs-skip=2)'\n",
			program, condition);
	else if (is(command->words, LITIFUT_WORDS_TOOLCHAIN))
		fprintf(file,
			"complete -c %s%s -a '(string replace -rf \".*/([^/]+)-ld\\$\" \"\\$1\" "
			"$PATH/*-ld)'\n",
			program, condition);
	else if (command->then)
		fprintf(file,
			"complete -c %s -n '__fish_seen_subcommand_from %s; and test (count "
			"(commandline -opc)) -gt 2' -xa '%s'\n",
			program, command->name, command->then);
	else if (command->words && !is(command->words, LITIFUT_WORDS_FILE) &&
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
