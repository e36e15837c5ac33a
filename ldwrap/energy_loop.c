#include "ldwrap/energy_loop.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/wait.h>
#include <unistd.h>

#include <libiberty/libiberty.h>

#include "ldwrap/diary.h"
#include "ldwrap/linker.h"
#include "ldwrap/shims.h"
#include "ldwrap/text_list.h"

static const char include_key[] = "include";
static const char close_key[] = "exclude_callees";

struct loop {
	const struct energy_loop_options *options;
	struct text_list user;    /* lines of the first settings that stay in each round's */
	bool all;                 /* the calls of all functions are traced: none is to be opened */
	struct text_list opened;  /* functions whose calls are traced */
	struct text_list dropped; /* that were opened and explained nothing */
	struct text_list closed;  /* functions to which no call is traced */
	char *advice;             /* path of the latest answer of litifut-post */
	char *about;              /* what it says of the hooks */
	struct text_list now_opened, now_dropped, now_closed; /* by that */
};

static enum litifut_status failed(const char *what, struct litifut_error *error)
{
	return litifut_error_set(error, LITIFUT_ERROR_IO, what, NULL, LITIFUT_NO_ADDRESS, "%s",
				 strerror(errno));
}

/* The value of a line `KEY = VALUE   # comment`, to be freed; NULL: it has another key. Keys may
 * have LITIFUT_ in front, as the wrapper takes them. */
static char *value_of(const char *line, const char *key)
{
	static const char prefix[] = "LITIFUT_";
	size_t length = strlen(key);

	line += strspn(line, " \t");
	if (!strncasecmp(line, prefix, sizeof(prefix) - 1))
		line += sizeof(prefix) - 1;
	if (strncasecmp(line, key, length))
		return NULL;
	line += length;
	line += strspn(line, " \t");
	if (*line != '=')
		return NULL;
	line++;
	line += strspn(line, " \t");
	size_t end = strcspn(line, "\n");
	for (size_t i = 1; i < end; i++) {
		if (line[i] == '#' && (line[i - 1] == ' ' || line[i - 1] == '\t'))
			end = i;
	}
	while (end && (line[end - 1] == ' ' || line[end - 1] == '\t' || line[end - 1] == '\r'))
		end--;
	return xstrndup(line, end);
}

/* The settings that the user begins with: functions to open are for the loop, the rest stays. */
static enum litifut_status read_first(struct loop *loop, struct litifut_error *error)
{
	const char *path = loop->options->config;
	FILE *file = path ? fopen(path, "re") : NULL;
	char *line = NULL;
	size_t room = 0;

	if (!path) {
		text_list_append(&loop->opened, "main");
		return LITIFUT_OK;
	}
	if (!file)
		return failed(path, error);
	while (getline(&line, &room, file) >= 0) {
		char *value = value_of(line, include_key);
		if (value)
			text_list_append_split(&loop->opened, value);
		else
			text_list_append(&loop->user, line);
		free(value);
	}
	loop->all = !loop->opened.count;
	free(line);
	fclose(file);
	return LITIFUT_OK;
}

/* The settings of the next link, also when the loop is ended by a signal. */
static enum litifut_status write_settings(const struct loop *loop, struct litifut_error *error)
{
	const char *path = loop->options->output;
	FILE *file = fopen(path, "we");

	if (!file)
		return failed(path, error);
	for (size_t i = 0; i < loop->user.count; i++)
		fputs(loop->user.items[i], file);
	for (size_t i = 0; i < loop->opened.count && !loop->all; i++)
		fprintf(file, "%s = %s\n", include_key, loop->opened.items[i]);
	for (size_t i = 0; i < loop->closed.count; i++)
		fprintf(file, "%s = %s\n", close_key, loop->closed.items[i]);
	bool bad = ferror(file);
	return fclose(file) || bad ? failed(path, error) : LITIFUT_OK;
}

/* Runs a command and waits for it; what it prints goes to the standard error. Signals of the
 * terminal reach both. */
static enum litifut_status run(char *const words[], const char *name, struct litifut_error *error)
{
	int status;
	pid_t child = fork();

	if (child < 0)
		return failed(name, error);
	if (!child) {
		dup2(STDERR_FILENO, STDOUT_FILENO);
		execvp(words[0], words);
		_exit(127);
	}
	while (waitpid(child, &status, 0) < 0)
		if (errno != EINTR)
			return failed(name, error);
	if (WIFSIGNALED(status))
		return litifut_error_set(error, LITIFUT_ERROR_UNSUPPORTED, name, NULL,
					 LITIFUT_NO_ADDRESS, "was ended by signal %d",
					 WTERMSIG(status));
	if (WEXITSTATUS(status))
		return litifut_error_set(error, LITIFUT_ERROR_UNSUPPORTED, name, NULL,
					 LITIFUT_NO_ADDRESS, "has failed with exit status %d",
					 WEXITSTATUS(status));
	return LITIFUT_OK;
}

/* Runs `text` in a shell, with its $1 and $2. */
static enum litifut_status run_shell(const char *text, const char *first, const char *second,
				     const char *name, struct litifut_error *error)
{
	char *words[] = {xstrdup("sh"), xstrdup("-c"),  xstrdup(text),
			 xstrdup("sh"), xstrdup(first), second ? xstrdup(second) : NULL,
			 NULL};
	enum litifut_status status = run(words, name, error);

	for (size_t i = 0; words[i]; i++)
		free(words[i]);
	return status;
}

static enum litifut_status build(const struct loop *loop, struct litifut_error *error)
{
	bool counts = diary_open();
	enum litifut_status status = run(loop->options->build, loop->options->build[0], error);
	size_t traced = diary_close(NULL, false, false, NULL);

	if (!status && counts && !traced)
		return litifut_error_set(error, LITIFUT_ERROR_MISSING, loop->options->build[0],
					 NULL, LITIFUT_NO_ADDRESS,
					 "it has made no traced file: each round needs a new link, "
					 "so let the command remove the linked file first");
	return status;
}

/* Asks litifut-post what to trace next. */
static enum litifut_status ask(struct loop *loop, struct litifut_error *error)
{
	const char *self = linker_self_path();
	char *program = xasprintf("%.*slitifut-post", (int)(lbasename(self) - self), self);
	char *text =
		concat("exec \"$1\" energy -q -f include -o \"$2\" ", loop->options->energy, NULL);
	enum litifut_status status =
		run_shell(text, program, loop->advice, "litifut-post energy", error);

	free(text);
	free(program);
	return status;
}

/* Functions that the advice leaves out are not opened again, so that rounds come to an end. */
static void take_opened(struct loop *loop, const struct text_list *wanted)
{
	struct text_list before = loop->opened;

	loop->opened = (struct text_list){NULL, 0};
	for (size_t i = 0; i < wanted->count; i++) {
		text_list_append(&loop->opened, wanted->items[i]);
		if (!text_list_has(&before, wanted->items[i]))
			text_list_append(&loop->now_opened, wanted->items[i]);
	}
	for (size_t i = 0; i < before.count; i++) {
		if (text_list_has(wanted, before.items[i]))
			continue;
		text_list_add(&loop->dropped, before.items[i]);
		text_list_append(&loop->now_dropped, before.items[i]);
	}
	text_list_release(&before);
}

static enum litifut_status read_advice(struct loop *loop, struct litifut_error *error)
{
	struct text_list wanted = {NULL, 0};
	FILE *file = fopen(loop->advice, "re");
	char *line = NULL;
	size_t room = 0;

	if (!file)
		return failed(loop->advice, error);
	text_list_release(&loop->now_opened);
	text_list_release(&loop->now_dropped);
	text_list_release(&loop->now_closed);
	free(loop->about);
	loop->about = NULL;
	while (getline(&line, &room, file) >= 0) {
		char *open = value_of(line, include_key), *close = value_of(line, close_key);
		if (!loop->about && !strncmp(line, "# ", 2))
			loop->about = xstrndup(line + 2, strcspn(line + 2, "\n"));
		if (open && !loop->all && !text_list_has(&loop->dropped, open))
			text_list_add(&wanted, open);
		if (close && text_list_add(&loop->closed, close))
			text_list_add(&loop->now_closed, close);
		free(open);
		free(close);
	}
	free(line);
	fclose(file);
	if (!loop->all)
		take_opened(loop, &wanted);
	text_list_release(&wanted);
	return LITIFUT_OK;
}

static bool is_done(const struct loop *loop)
{
	return !loop->now_opened.count && !loop->now_dropped.count && !loop->now_closed.count;
}

static void print_list(FILE *to, const char *word, const struct text_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		fprintf(to, "%s%s", i ? " " : word, list->items[i]);
}

static enum litifut_status round_of(FILE *to, struct loop *loop, unsigned number,
				    struct litifut_error *error)
{
	char *text = xasprintf("%u", number);
	enum litifut_status status = write_settings(loop, error);

	if (!status)
		status = build(loop, error);
	if (!status)
		status = run_shell(loop->options->measure, text, NULL, loop->options->measure,
				   error);
	if (!status)
		status = ask(loop, error);
	if (!status)
		status = read_advice(loop, error);
	free(text);
	if (status)
		return status;
	fprintf(to, "round %u: %s", number, loop->about ? loop->about : "");
	print_list(to, "; open ", &loop->now_opened);
	print_list(to, "; no longer open ", &loop->now_dropped);
	print_list(to, "; close ", &loop->now_closed);
	fputs(is_done(loop) ? "; no other set\n" : "\n", to);
	fflush(to);
	return LITIFUT_OK;
}

static enum litifut_status rounds(FILE *to, struct loop *loop, struct litifut_error *error)
{
	for (unsigned i = 1; i <= loop->options->rounds; i++) {
		enum litifut_status status = round_of(to, loop, i, error);
		if (status)
			return status;
		if (is_done(loop))
			return LITIFUT_OK;
	}
	enum litifut_status status = write_settings(loop, error);
	if (status)
		return status;
	return litifut_error_set(
		error, LITIFUT_ERROR_MISSING, loop->options->output, NULL, LITIFUT_NO_ADDRESS,
		"the advice of round %u is in it and was not measured; more rounds: "
		"--rounds",
		loop->options->rounds);
}

enum litifut_status energy_loop(FILE *to, const struct energy_loop_options *options,
				struct litifut_error *error)
{
	struct loop loop = {.options = options};
	char *shims, *path = NULL;
	enum litifut_status status = read_first(&loop, error);

	if (!status)
		status = shims_make(&shims, error);
	if (!status) {
		shims_set_environment(shims);
		free(shims);
		setenv("LITIFUT_MODE", "spans", 0);
		status = write_settings(&loop, error);
	}
	if (!status) {
		/* the links may run in other folders */
		path = realpath(options->output, NULL);
		if (!path)
			status = failed(options->output, error);
	}
	if (!status) {
		setenv("LITIFUT_CONFIG", path, 1);
		loop.advice = concat(path, ".advice", NULL);
		status = rounds(to, &loop, error);
		unlink(loop.advice);
	}
	text_list_release(&loop.user);
	text_list_release(&loop.opened);
	text_list_release(&loop.closed);
	text_list_release(&loop.dropped);
	text_list_release(&loop.now_opened);
	text_list_release(&loop.now_dropped);
	text_list_release(&loop.now_closed);
	free(loop.about);
	free(loop.advice);
	free(path);
	return status;
}
