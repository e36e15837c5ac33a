/* litifut-ld: stands in the place of a linker. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <libiberty/libiberty.h>

#include "common/memory.h"
#include "common/version.h"
#include "ldwrap/arguments.h"
#include "ldwrap/decision.h"
#include "ldwrap/defaults.h"
#include "ldwrap/diary.h"
#include "ldwrap/firmware.h"
#include "ldwrap/link.h"
#include "ldwrap/link_warnings.h"
#include "ldwrap/linker.h"
#include "ldwrap/process.h"
#include "ldwrap/settings.h"

/* What is wrong with the settings. Whether it is printed is decided when it is
 * known what link this is. */
static struct text_list warnings;

static void warn(const char *message)
{
	text_list_append(&warnings, message);
}

/* Of the linker that is not there, as a shell would. */
static _Noreturn void fail(int status, const char *name, const char *message)
{
	fprintf(stderr, "litifut-ld: error: %s: %s\n", name, message);
	exit(status);
}

static _Noreturn void become_linker(const struct linker *linker, char *argv[])
{
	argv[0] = linker->name;
	process_replace(linker->path, argv);
	fail(126, linker->path, strerror(errno));
}

/* For the last line of `litifut build'. */
static void note(const char *output, const char *reason, bool printed)
{
	if (!strcmp(lbasename(output), "a.out"))
		diary_note_unnamed(output, reason, printed);
	else if (decision_is_trial(output))
		diary_note_trial();
	else
		diary_note(output, reason, printed);
}

/* The tracer could not be put in: what the user gets is what the linker alone
 * makes of it, also if that is an error. */
static _Noreturn void link_plain(const struct linker *linker, char *argv[], const char *output,
				 bool strict, const struct litifut_error *error)
{
	char line[1024];
	int status;

	argv[0] = linker->name;
	status = process_run(linker->path, argv, NULL, NULL);
	if (status < 0)
		fail(126, linker->path, strerror(errno));
	if (status)
		process_end_like(status);
	litifut_error_line(error, line, sizeof(line));
	note(output, line, true);
	if (strict) {
		fprintf(stderr, "litifut-ld: error: %s: can't be traced: %s\n", output, line);
		unlink(output);
		exit(1);
	}
	fprintf(stderr, "litifut-ld: warning: %s: left untraced: %s\n", output, line);
	exit(0);
}

/* What the link has to say. Lines that depend on the other links of a build are the diary's, if
 * there is one. */
static void print_warnings(const char *output, const struct link_warnings *list)
{
	for (size_t i = 0; i < list->count; i++) {
		const struct link_warning *each = &list->items[i];
		char *line = xasprintf("%s: %s", output, each->line);
		const bool noted = each->kind == LINK_WARNING_NOTHING
					   ? diary_note_nothing(output, each->line, each->nearest)
				   : each->kind == LINK_WARNING_MEMORY ? diary_note_low_memory(line)
								       : false;
		const bool has_nearest = each->nearest && *each->nearest;

		if (!noted)
			fprintf(stderr, "litifut-ld: warning: %s%s%s%s\n", line,
				has_nearest ? "; did you mean " : "",
				has_nearest ? each->nearest : "", has_nearest ? "?" : "");
		free(line);
	}
}

static void warn_of_link(const struct arguments *arguments, const struct settings *settings,
			 const struct link_outcome *outcome)
{
	const char *output = arguments_output(arguments);
	struct link_warnings list;

	if (decision_is_trial(output))
		return;
	link_warnings_find(settings, outcome, arguments_last(arguments, ARGUMENT_SHARED) != NULL,
			   &list);
	print_warnings(output, &list);
	link_warnings_release(&list);
	if (outcome->unsent)
		diary_note_unsent(outcome->unsent);
}

/* Only of links that the settings are for. A link that does not record what was asked for fails if
 * LITIFUT_STRICT is set. */
static void warn_of_settings(const struct arguments *arguments, const struct decision *decision,
			     const struct settings *settings)
{
	const bool fails = settings->strict && (decision->rewrite || decision->refused);
	/* Of a machine that can't be traced, the line that says so is enough. */
	const bool no_machine =
		decision->refused && !decision->rewrite && !decision->target.machine;

	if (decision_is_trial(arguments_output(arguments)) || no_machine ||
	    !(decision->rewrite || decision->refused || decision->is_program))
		return;
	for (size_t i = 0; i < warnings.count; i++)
		fprintf(stderr, "litifut-ld: %s: %s\n", fails ? "error" : "warning",
			warnings.items[i]);
	for (size_t i = 0; i < settings->remarks.count; i++)
		fprintf(stderr, "litifut-ld: warning: %s\n", settings->remarks.items[i]);
	if (warnings.count)
		diary_note_warning(warnings.items[0]);
	if (warnings.count && fails)
		exit(1);
}

static void note_run_settings(const struct settings *settings)
{
	char *names = defaults_in_environment(settings->defaults);

	if (names)
		diary_note_run_settings(names);
	free(names);
}

/* Of a user who asks the wrapper, not the linker behind it. */
static void introduce(int argc, char *argv[])
{
	static const char *const questions[] = {"-h", "--help", "-V", "--version"};

	if (argc != 2 || strcmp(lbasename(argv[0]), "litifut-ld"))
		return;
	for (size_t i = 0; i < sizeof(questions) / sizeof(questions[0]); i++) {
		if (strcmp(argv[1], questions[i]))
			continue;
		if (i < 2)
			puts("usage: litifut-ld [linker option...] file...\n"
			     "Stands in the place of a linker; with LITIFUT=1 in the environment "
			     "what\n"
			     "it links is traced. Mostly it is run by `litifut build' or installed "
			     "by\n"
			     "`litifut install-ld', see litifut-ld(1). The linker itself says:\n");
		else
			printf("litifut-ld %s, in the place of:\n", litifut_version);
		fflush(stdout);
		if (i == 0) /* ld has no -h */
			argv[1] = (char *)questions[1];
		break;
	}
}

static char *object_folder(void)
{
	const char *self = linker_self_path();

	return xasprintf("%.*s../lib/litifut", (int)(lbasename(self) - self), self);
}

int main(int argc, char *argv[])
{
	struct settings settings;
	struct arguments arguments;
	struct decision decision;
	struct linker linker;
	struct litifut_error error;
	struct link_request request;
	struct link_outcome outcome;
	const char *invoked = argv[0];

	xmalloc_set_program_name("litifut-ld");
	process_keep_standard_files();
	introduce(argc, argv);
	settings_read(&settings, warn);
	arguments_parse(argc, argv, &arguments);
	if (linker_find(invoked, decision_triplets(&arguments), &linker))
		fail(127, invoked, "no linker of this name on COMPILER_PATH or PATH but this one");
	linker_guard_environment(&linker);
	if (settings.mode == SETTINGS_PLAIN && !warnings.count)
		become_linker(&linker, argv);
	decision_make(&arguments, &decision);
	if (settings.mode == SETTINGS_REWRITE) {
		settings_suit(&settings, decision.firmware != NULL, warn);
		settings_check_names(warn);
		if (settings.port && decision.rewrite && !decision.firmware)
			warn("LITIFUT_PORT: has no effect, as it is for firmware only");
	}
	warn_of_settings(&arguments, &decision, &settings);
	if (settings.mode == SETTINGS_PLAIN)
		become_linker(&linker, argv);
	/* Whatever is started from here on must not rewrite again. */
	setenv("LITIFUT", "0", 1);
	if (decision.refused) {
		litifut_error_set(&error, LITIFUT_ERROR_UNSUPPORTED, NULL, NULL, LITIFUT_NO_ADDRESS,
				  "%s", decision.reason);
		link_plain(&linker, argv, arguments_output(&arguments), settings.strict, &error);
	}
	if (!decision.rewrite) {
		if (settings.strict && decision.is_program)
			fprintf(stderr, "litifut-ld: warning: %s: left untraced: %s\n",
				arguments_output(&arguments), decision.reason);
		else if (settings.verbose)
			fprintf(stderr, "litifut-ld: %s: plain link: %s\n",
				arguments_output(&arguments), decision.reason);
		if (decision.is_program)
			note(arguments_output(&arguments), decision.reason, settings.strict);
		else
			diary_note_other();
		become_linker(&linker, argv);
	}

	request = (struct link_request){
		.arguments = &arguments,
		.settings = &settings,
		.decision = &decision,
		.linker = &linker,
		.object_folder = object_folder(),
	};
	litifut_memory_keep();
	argv[0] = linker.name;
	process_prepare_for_crash(
		xasprintf("litifut-ld: %s: %s: %s: ", settings.strict ? "error" : "warning",
			  arguments_output(&arguments),
			  settings.strict ? "can't be traced" : "left untraced"),
		settings.strict ? NULL : linker.path, argv);
	if (scratch_open()) {
		litifut_error_set(&error, LITIFUT_ERROR_IO, getenv("TMPDIR"), NULL,
				  LITIFUT_NO_ADDRESS, "no folder for temporary files: %s",
				  strerror(errno));
	} else if (!(linker.kind = linkers_recognise(linker.path, linker.name))) {
		litifut_error_set(&error, LITIFUT_ERROR_UNSUPPORTED, linker.path, NULL,
				  LITIFUT_NO_ADDRESS, "this linker is not known: it is none of %s",
				  linkers_plain_names());
	} else if (!(decision.firmware ? firmware_link : link_rewritten)(&request, &outcome,
									 &error)) {
		scratch_close();
		note(arguments_output(&arguments), NULL, false);
		warn_of_link(&arguments, &settings, &outcome);
		if (!decision.firmware)
			note_run_settings(&settings);
		return 0;
	}
	scratch_close();
	link_plain(&linker, argv, arguments_output(&arguments), settings.strict, &error);
}
