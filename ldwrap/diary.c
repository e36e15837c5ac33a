#include "ldwrap/diary.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <libiberty/libiberty.h>

/* The first letter of a line. */
enum {
	TRACED = 't',
	PLAIN = 'p',
	OTHER = 'o',
	TRIAL = 'c',
	UNNAMED = 'a',
	WARNING = 'w',
	NOTHING = 'u',
	LOW = 'm',
	UNSENT = 's',
	RUN = 'r'
};

/* Between an output and a reason that its link has printed, in place of ": ". */
#define PRINTED "\t"

/* Before the path of the file that a link has made, at the end of its line. */
#define MADE '\001'

/* One write of a whole line, so that links that run at once do not mix theirs. */
static void note_line(char kind, const char *text)
{
	const char *path = getenv(DIARY_VARIABLE);
	int file = path ? open(path, O_WRONLY | O_APPEND | O_NOFOLLOW | O_CLOEXEC) : -1;
	char *line;

	if (file < 0)
		return;
	line = xasprintf("%c%s\n", kind, text);
	for (char *at = line; at[1]; at++)
		if (*at == '\n')
			*at = ' ';
	if (write(file, line, strlen(line)) < 0)
		unlink(path);
	free(line);
	close(file);
}

/* Of the link that makes `output`: a later one that makes it anew takes its place. */
static void note_link(char kind, const char *text, const char *output)
{
	char *folder = *output == '/' ? NULL : getcwd(NULL, 0);
	char *line = xasprintf("%s%c%s%s%s", text, MADE, folder ? folder : "", folder ? "/" : "",
			       output);

	note_line(kind, line);
	free(line);
	free(folder);
}

static void note_reason(char kind, const char *output, const char *reason, bool printed)
{
	char *text = concat(output, printed ? PRINTED : ": ", reason, NULL);

	note_link(kind, text, output);
	free(text);
}

void diary_note(const char *output, const char *reason, bool printed)
{
	if (reason)
		note_reason(PLAIN, output, reason, printed);
	else
		note_link(TRACED, "", output);
}

void diary_note_other(void)
{
	note_line(OTHER, "");
}

void diary_note_trial(void)
{
	note_line(TRIAL, "");
}

void diary_note_unnamed(const char *output, const char *reason, bool printed)
{
	if (reason)
		note_reason(UNNAMED, output, reason, printed);
	else
		note_link(UNNAMED, "", output);
}

void diary_note_warning(const char *line)
{
	note_line(WARNING, line);
}

bool diary_note_low_memory(const char *line)
{
	note_line(LOW, line);
	return getenv(DIARY_VARIABLE) != NULL;
}

void diary_note_unsent(const char *line)
{
	note_line(UNSENT, line);
}

void diary_note_run_settings(const char *names)
{
	note_line(RUN, names);
}

bool diary_note_nothing(const char *output, const char *line, const char *nearest)
{
	char *all = concat(line, "\t", nearest, "\t", output, NULL);

	note_link(NOTHING, all, output);
	free(all);
	return getenv(DIARY_VARIABLE) != NULL;
}

bool diary_open(void)
{
	const char *folder = getenv("TMPDIR");
	char *path;
	int file;

	if (getenv(DIARY_VARIABLE))
		return false;
	path = concat(folder && *folder == '/' ? folder : "/tmp", "/litifut-build-XXXXXX", NULL);
	file = mkostemp(path, O_CLOEXEC);
	if (file >= 0) {
		close(file);
		setenv(DIARY_VARIABLE, path, 1);
	}
	free(path);
	return file >= 0;
}

/* That a setting names nothing: in how many links. */
struct nothing {
	char *line;
	char *nearest; /* what may have been meant, says the first one that proposes something */
	char *output;  /* the first of these */
	size_t count;
};

struct tally {
	size_t traced;
	size_t plain;
	size_t other;
	size_t trials;
	size_t unnamed_traced;
	size_t unnamed_plain;
	char *last_plain;   /* "NAME: why", or with PRINTED */
	char *last_unnamed; /* the same */
	char *warning;      /* the first one of settings */
	char *low;          /* the first one that has little memory left */
	char *unsent;       /* how to get the results of the first one that sends none */
	char *run;          /* settings of the recorder, the first names that were noted */
	struct nothing *nothings;
	size_t nothing_count;
};

/* "LINE\tNEAREST\tOUTPUT" */
static void count_nothing(struct tally *tally, char *text)
{
	char *nearest = strchr(text, '\t');
	char *output = nearest ? strchr(nearest + 1, '\t') : NULL;
	size_t at = 0;

	if (!output)
		return;
	*nearest++ = '\0';
	*output++ = '\0';
	while (at < tally->nothing_count && strcmp(tally->nothings[at].line, text))
		at++;
	if (at == tally->nothing_count) {
		tally->nothings = xrealloc(tally->nothings, (at + 1) * sizeof(*tally->nothings));
		tally->nothings[tally->nothing_count++] =
			(struct nothing){.line = xstrdup(text), .output = xstrdup(output)};
	}
	if (*nearest && !tally->nothings[at].nearest)
		tally->nothings[at].nearest = xstrdup(nearest);
	tally->nothings[at].count++;
}

static void note_plain(size_t *count, char **last, const char *text)
{
	++*count;
	free(*last);
	*last = xstrdup(text);
}

/* What links have noted, without those whose output was made anew by a later one. */
struct notes {
	char **lines;
	char **made; /* the paths behind them, NULL: none */
	size_t count;
};

static bool is_outcome(const char *line)
{
	return line[0] == TRACED || line[0] == PLAIN || line[0] == UNNAMED;
}

/* Does the note say something of the same file that the one at `at` says? */
static bool is_replaced(const struct notes *notes, size_t at, const char *line, const char *made)
{
	if (!notes->made[at] || strcmp(notes->made[at], made))
		return false;
	return is_outcome(line) ? is_outcome(notes->lines[at]) : !strcmp(notes->lines[at], line);
}

static void add_note(struct notes *notes, char *line)
{
	char *made = strchr(line, MADE);
	size_t kept = 0;

	if (made)
		*made++ = '\0';
	for (size_t i = 0; made && i < notes->count; i++) {
		if (is_replaced(notes, i, line, made)) {
			free(notes->lines[i]);
			continue;
		}
		notes->lines[kept] = notes->lines[i];
		notes->made[kept++] = notes->made[i];
	}
	if (made)
		notes->count = kept;
	notes->lines = xrealloc(notes->lines, (notes->count + 1) * sizeof(*notes->lines));
	notes->made = xrealloc(notes->made, (notes->count + 1) * sizeof(*notes->made));
	notes->lines[notes->count] = line;
	notes->made[notes->count++] = made;
}

static struct notes read_notes(FILE *file)
{
	struct notes notes = {0};
	char *line = NULL;
	size_t room = 0;

	while (getline(&line, &room, file) >= 0) {
		line[strcspn(line, "\n")] = '\0';
		add_note(&notes, xstrdup(line));
	}
	free(line);
	return notes;
}

static struct tally read_tally(FILE *file)
{
	struct tally tally = {0};
	struct notes notes = read_notes(file);

	for (size_t i = 0; i < notes.count; i++) {
		char *line = notes.lines[i];

		tally.traced += line[0] == TRACED;
		tally.other += line[0] == OTHER;
		tally.trials += line[0] == TRIAL;
		tally.unnamed_traced += line[0] == UNNAMED && !line[1];
		if (line[0] == UNNAMED && line[1])
			note_plain(&tally.unnamed_plain, &tally.last_unnamed, line + 1);
		if (line[0] == WARNING && !tally.warning)
			tally.warning = xstrdup(line + 1);
		if (line[0] == LOW && !tally.low)
			tally.low = xstrdup(line + 1);
		if (line[0] == UNSENT && !tally.unsent)
			tally.unsent = xstrdup(line + 1);
		if (line[0] == RUN && !tally.run)
			tally.run = xstrdup(line + 1);
		if (line[0] == NOTHING)
			count_nothing(&tally, line + 1);
		if (line[0] == PLAIN)
			note_plain(&tally.plain, &tally.last_plain, line + 1);
		free(line);
	}
	free(notes.lines);
	free(notes.made);
	if (tally.trials) /* then a.out is one as well */
		return tally;
	tally.traced += tally.unnamed_traced;
	tally.plain += tally.unnamed_plain;
	if (!tally.last_plain && tally.last_unnamed)
		tally.last_plain = xstrdup(tally.last_unnamed);
	return tally;
}

/* What names nothing in any link. Gives how many lines that were. */
static size_t say_nothings(const struct tally *tally, FILE *to)
{
	size_t said = 0;

	for (size_t i = 0; i < tally->nothing_count; i++) {
		const struct nothing *nothing = &tally->nothings[i];

		if (nothing->count < tally->traced)
			continue;
		said++;
		if (tally->traced < 2)
			fprintf(to, "litifut-ld: warning: %s: %s", nothing->output, nothing->line);
		else
			fprintf(to, "litifut: warning: in all %zu linked files: %s", tally->traced,
				nothing->line);
		if (nothing->nearest)
			fprintf(to, "; did you mean %s?", nothing->nearest);
		putc('\n', to);
	}
	return said;
}

/* Why is said again where the line that said so may stand far above. */
static void say_plain(const struct tally *tally, FILE *to)
{
	const size_t name = strcspn(tally->last_plain, PRINTED);
	const char *reason = tally->last_plain + name;

	fprintf(to, ", %zu left plain: %.*s", tally->plain, (int)name, tally->last_plain);
	if (*reason && tally->traced + tally->plain > 1)
		fprintf(to, ": %s", reason + strlen(PRINTED));
	if (tally->plain > 1)
		fputs(", ...", to);
}

/* `nothings`: so many lines before this one. */
static void say(const struct tally *tally, FILE *to, bool wordy, bool failed, size_t nothings)
{
	const char *plural = tally->traced == 1 ? "" : "s";

	/* a single link has just said what is wrong */
	if (!wordy && (!tally->warning || tally->traced + tally->plain < 2))
		return;
	if (failed && !tally->traced && !tally->plain)
		return;
	if (!tally->traced && !tally->plain && tally->trials)
		fputs("litifut: nothing is traced yet: the links were trials of a configure "
		      "script; "
		      "run the build with `litifut build', too\n",
		      to);
	else if (!tally->traced && !tally->plain && !tally->other)
		fputs("litifut: nothing is traced: no link was seen; delete linked files, so that "
		      "they are made again\n",
		      to);
	else if (!tally->traced && !tally->plain)
		fputs("litifut: nothing is traced: no link was of a program or library for "
		      "32-bit ARM, MIPS or AVR\n",
		      to);
	else {
		fprintf(to, "litifut: %s%zu linked file%s traced",
			failed ? "the command has failed; before that " : "", tally->traced,
			plural);
		if (tally->plain)
			say_plain(tally, to);
		if (tally->warning)
			fprintf(to, "; %s", tally->warning);
		if (tally->unsent)
			fprintf(to, "; %s", tally->unsent);
		if (tally->low)
			fprintf(to, "; %s", tally->low);
		if (tally->run)
			fprintf(to,
				"; the link does not use %s: set that where the program runs, or "
				"in LITIFUT_DEFAULTS",
				tally->run);
		if (nothings)
			fprintf(to, "; %zu setting%s named nothing, see above", nothings,
				nothings == 1 ? "" : "s");
		putc('\n', to);
	}
}

size_t diary_close(FILE *to, bool wordy, bool failed, bool *only_others)
{
	const char *path = getenv(DIARY_VARIABLE);
	FILE *file = path ? fopen(path, "re") : NULL;
	struct tally tally;

	if (only_others)
		*only_others = false;
	if (!file)
		return 0;
	tally = read_tally(file);
	if (only_others)
		*only_others = tally.other && !tally.traced && !tally.plain && !tally.trials;
	fclose(file);
	unlink(path);
	unsetenv(DIARY_VARIABLE);
	if (to) {
		size_t nothings = failed ? 0 : say_nothings(&tally, to);

		say(&tally, to, wordy, failed, nothings);
	}
	for (size_t i = 0; i < tally.nothing_count; i++) {
		free(tally.nothings[i].line);
		free(tally.nothings[i].nearest);
		free(tally.nothings[i].output);
	}
	free(tally.nothings);
	free(tally.last_plain);
	free(tally.last_unnamed);
	free(tally.warning);
	free(tally.low);
	free(tally.unsent);
	free(tally.run);
	return tally.traced;
}
