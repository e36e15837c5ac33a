/* The options of a command as one table: getopt, --help and the completion of shells read it. */
#ifndef LITIFUT_COMMON_OPTIONS_H
#define LITIFUT_COMMON_OPTIONS_H

#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>

#define LITIFUT_FIRST_LONG 256 /* codes from here on have no letter */
#define LITIFUT_MOST_OPTIONS 64

/* Special values of `words`. */
#define LITIFUT_WORDS_FILE "FILE"
#define LITIFUT_WORDS_FOLDER "FOLDER"
#define LITIFUT_WORDS_COMMAND "COMMAND"     /* a program that is run, */
#define LITIFUT_WORDS_ARGUMENTS "ARGUMENTS" /* and what it takes; of `then` only */
#define LITIFUT_WORDS_TOOLCHAIN "TOOLCHAIN" /* TRIPLET where there is a TRIPLET-ld, or a file */

struct litifut_option {
	const char *name;     /* behind --; NULL: a heading, its text is `help` */
	int code;             /* the letter behind -, or one from LITIFUT_FIRST_LONG on */
	const char *argument; /* as help calls it, NULL: none; "[=X]": it may be left out */
	const char *words;    /* what it can be, separated by blanks; NULL: anything */
	const char *help;
	unsigned use; /* for the program */
};

/* A command: the program itself, or what its first word can be. */
struct litifut_command {
	const char *name;
	const char *summary;
	const struct litifut_option
		*options;  /* the last one has no name and no help; may be NULL */
	const char *words; /* what may follow, separated by blanks, or FILE, FOLDER; may be NULL */
	const char *then;  /* what may follow the first of these; NULL: the same */
	const char *arguments; /* as the usage has it, lines for several ways; may be NULL */
	const char *help;      /* more than the summary says; may be NULL */
};

/* Fills both for getopt_long(). `list` has room for LITIFUT_MOST_OPTIONS + 1, `letters` for three
 * times as many, and begins with what the caller has put there. */
void litifut_options_getopt(const struct litifut_option *options, struct option *list,
			    char *letters);

/* One line for each option, and its heading. */
void litifut_options_help(FILE *file, const struct litifut_option *options);

/* The option whose name is most like that of `word`, which may have -- in front and = behind;
 * NULL: there is none. */
const char *litifut_option_nearest(const struct litifut_option *options, const char *word);

/* One line for each way to use a command. The first one begins with `head`, others with as many
 * blanks. */
void litifut_usage_write(FILE *file, const char *head, const char *program,
			 const struct litifut_command *command);

/* How a command is used, what it is, and its options. */
void litifut_command_help(FILE *file, const char *program, const struct litifut_command *command);

/* What is wrong with the last word that getopt_long() has looked at, for which it gave ':' (then
 * `incomplete`) or '?'. True: the text names what was meant. */
bool litifut_option_wrong(const struct litifut_option *options, int count, char *const *arguments,
			  bool incomplete, char *text, size_t size);

/* A script that completes the words of a program: commands[0] is the program without a command,
 * the last one has no name. False: `shell` is not bash, zsh or fish. */
bool litifut_completion_write(FILE *file, const char *shell, const char *program,
			      const struct litifut_command *commands);

#endif
