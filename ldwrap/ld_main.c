/* litifut-ld: stands in the place of a linker. */
#include <errno.h>
#include <litifut/module_format.h>
#include <litifut/trace_format.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <libiberty/libiberty.h>

#include "common/memory.h"
#include "common/site_text.h"
#include "common/version.h"
#include "ldwrap/arguments.h"
#include "ldwrap/decision.h"
#include "ldwrap/defaults.h"
#include "ldwrap/diary.h"
#include "ldwrap/firmware.h"
#include "ldwrap/link.h"
#include "ldwrap/linker.h"
#include "ldwrap/process.h"
#include "ldwrap/settings.h"

/* A firmware that has so many bytes for heap and stacks is not looked at. */
#define LOW_MEMORY 16384

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

/* That a setting names nothing in this link. It may name something in another one of the same
 * build, so `litifut build' prints the line at its end, if that is so of all links. `nearest' is
 * what may have been meant, or "". */
static void __attribute__((format(printf, 3, 4)))
warn_of_nothing(const char *output, const char *nearest, const char *format, ...)
{
	va_list arguments;
	char *line;

	va_start(arguments, format);
	line = xvasprintf(format, arguments);
	va_end(arguments);
	if (!diary_note_nothing(output, line, nearest))
		fprintf(stderr, "litifut-ld: warning: %s: %s%s%s%s\n", output, line,
			*nearest ? "; did you mean " : "", nearest, *nearest ? "?" : "");
	free(line);
}

/* A firmware whose stack comes upon its heap or its data dies some time later, and nothing says
 * why. */
static void say_low_memory(const char *output, const struct link_outcome *outcome)
{
	char *line;

	if (!outcome->memory_before || outcome->memory_left >= LOW_MEMORY ||
	    outcome->memory_left > outcome->memory_before / 3)
		return;
	line = xasprintf("%s: %u bytes of memory are left for heap and stacks, %u without the "
			 "tracer",
			 output, outcome->memory_left, outcome->memory_before);
	if (!diary_note_low_memory(line))
		fprintf(stderr, "litifut-ld: warning: %s\n", line);
	free(line);
}

static void warn_of_clock_user(const char *output, const struct link_outcome *outcome)
{
	fprintf(stderr,
		"litifut-ld: warning: %s: the program uses the timer of LITIFUT_CLOCK itself, as ",
		output);
	if (outcome->clock_user)
		fprintf(stderr, "it has a handler of its interrupt %u", outcome->clock_user);
	else
		fprintf(stderr, "its function %s sets it up", outcome->clock_setter);
	fprintf(stderr, ": neither the times nor that part of the program are right: use "
			"LITIFUT_MODE=counts or stream, or let the program use another timer\n");
}

static const char *more_than(const struct text_list *names)
{
	return names->count > 1 ? ",..." : "";
}

/* Other settings have semicolons between what they name. */
static const char *separator_hint(const struct text_list *names)
{
	for (size_t i = 0; i < names->count; i++)
		if (strpbrk(names->items[i], "; "))
			return ": write commas between the names";
	return "";
}

/* The names of a setting that choose functions. */
static void warn_of_names(const char *output, const char *which, const struct text_list *names,
			  const struct litifut_asked_names *asked, const char *effect)
{
	if (asked->unused)
		warn_of_nothing(output, asked->nearest, "no function has a name %s (%s%s)%s%s",
				which, names->items[0], more_than(names), effect,
				separator_hint(names));
}

static void warn_of_unused(const struct arguments *arguments, const struct settings *settings,
			   const struct link_outcome *outcome)
{
	const char *output = arguments_output(arguments);

	if (decision_is_trial(output))
		return;
	say_low_memory(output, outcome);
	if (outcome->nameless)
		fprintf(stderr,
			"litifut-ld: warning: %s: -s takes the names of functions away, and "
			"litifut-post will show addresses, as no file can be put beside it: link "
			"without -s, and strip a copy for the device\n",
			output);
	warn_of_names(output, "that LITIFUT_INCLUDE asks for", &settings->include,
		      &outcome->asked.includes, ": no call is traced");
	warn_of_names(output, "of LITIFUT_UNITS", &settings->units, &outcome->asked.units, "");
	warn_of_names(output, "of LITIFUT_EXCLUDE", &settings->exclude, &outcome->asked.excludes,
		      "");
	for (size_t i = 0; i < outcome->asked.arguments_unused_count; i++)
		warn_of_nothing(output, outcome->asked.arguments_nearest[i],
				"%s: no call is found of a function named %s (a call through a "
				"pointer does not name its function)",
				settings->arguments && strstr(settings->arguments,
							      outcome->asked.arguments_unused[i])
					? "LITIFUT_ARGS"
					: "LITIFUT_TRIGGER",
				outcome->asked.arguments_unused[i]);
	if (outcome->asked.argument_unknown)
		fprintf(stderr,
			"litifut-ld: warning: %s: LITIFUT_ARGS: the parameters of %s are not "
			"known: compile with -g, or write them: %s:i0,s1\n",
			output, outcome->asked.argument_unknown, outcome->asked.argument_unknown);
	if (outcome->asked.argument_crowded)
		fprintf(stderr,
			"litifut-ld: warning: %s: LITIFUT_ARGS: more than %u values of a function "
			"that %s names: what is too much is left out; choose fewer\n",
			output, LITIFUT_ARGUMENT_FIELDS, outcome->asked.argument_crowded);
	if (outcome->asked.argument_left)
		fprintf(stderr,
			"litifut-ld: warning: %s: LITIFUT_ARGS: nothing is recorded of %zu calls: "
			"a "
			"module has room for 255 different lists of values; choose fewer\n",
			output, outcome->asked.argument_left);
	if (outcome->asked.results_left)
		fprintf(stderr,
			"litifut-ld: warning: %s: LITIFUT_ARGS: what %zu of %zu calls return is "
			"not "
			"recorded: they have no return that can be (a tail call returns in the "
			"function around it; litifut info names others)\n",
			output, outcome->asked.results_left, outcome->asked.results);
	if (outcome->asked.untimed)
		fprintf(stderr,
			"litifut-ld: warning: %s: LITIFUT_TRIGGER: %zu of %zu calls are not "
			"measured: their returns are not recorded (litifut info says why)\n",
			output, outcome->asked.untimed, outcome->asked.timed);
	if (outcome->foreign_calls)
		fprintf(stderr, "litifut-ld: warning: %s: %zu of %zu calls are not traced: %s\n",
			output, outcome->foreign_calls, outcome->calls,
			litifut_site_reason_text(LITIFUT_SITE_FOREIGN_ISA));
	if (outcome->returns_refused)
		fprintf(stderr,
			"litifut-ld: warning: %s: LITIFUT_MODE: returns are not recorded: %s\n",
			output, outcome->returns_refused);
	if (outcome->returns_far)
		fprintf(stderr,
			"litifut-ld: warning: %s: %zu of %zu returns are not recorded, as there is "
			"more code for them than can be reached: %schoose the objects that are "
			"traced (LITIFUT_INCLUDE_OBJECTS)\n",
			output, outcome->returns_far, outcome->returns,
			arguments_last(arguments, ARGUMENT_SHARED) ? "" : "link with -no-pie, or ");
	if (outcome->times_refused)
		fprintf(stderr,
			"litifut-ld: warning: %s: LITIFUT_MODE: calls are counted, %s: %s\n",
			output,
			settings->recorded == LITIFUT_MODE_STREAM ? "without their order"
								  : "not timed",
			outcome->times_refused);
	if (outcome->never_sent && settings->send && !strncmp(settings->send, "call:", 5))
		fprintf(stderr,
			"litifut-ld: warning: %s: the results are never sent, as no call by name "
			"leads to %s (LITIFUT_SEND), and a call through a pointer does not send: "
			"name a function that is called by its name, or call litifut_send()\n",
			output, settings->send + 5);
	else if (outcome->never_sent)
		fprintf(stderr,
			"litifut-ld: warning: %s: the results are never sent, as the program calls "
			"nothing that sends them (_exit, litifut_send, or the function of "
			"LITIFUT_SEND): set LITIFUT_SEND=call:FUNCTION or tick:N%s%s\n",
			output, outcome->handlers ? ":" : "",
			outcome->handlers ? outcome->handlers : "");
	if (outcome->never_starts)
		fprintf(stderr,
			"litifut-ld: warning: %s: nothing is ever recorded, as no call by name "
			"leads to %s (LITIFUT_START_AT), and a call through a pointer does not "
			"start recording: name a function that is called by its name, or call "
			"litifut_start()\n",
			output, settings->start_at);
	if (outcome->unsent)
		diary_note_unsent(outcome->unsent);
	if (outcome->never_ends)
		fprintf(stderr,
			"litifut-ld: warning: %s: the results are never sent, as main() does not "
			"return, and they are sent where the program ends: set "
			"LITIFUT_SEND=call:FUNCTION or tick:N%s%s\n",
			output, outcome->handlers ? ":" : "",
			outcome->handlers ? outcome->handlers : "");
	if (outcome->clock_user || outcome->clock_setter)
		warn_of_clock_user(output, outcome);
	if (outcome->control_missing)
		fprintf(stderr,
			"litifut-ld: warning: %s: the program uses %s, which does not exist for "
			"this LITIFUT_MODE: all is recorded, from the start on: choose the "
			"functions that are traced (LITIFUT_INCLUDE, LITIFUT_EXCLUDE)\n",
			output, outcome->control_missing);
	if (outcome->depth)
		fprintf(stderr,
			"litifut-ld: warning: %s: the memory has room for no more than %u open "
			"calls: those above them are counted without their times: trace fewer "
			"functions (LITIFUT_INCLUDE), or set LITIFUT_DEPTH=%u if these are "
			"enough\n",
			output, outcome->depth, outcome->depth);
	if (outcome->ring_kb)
		fprintf(stderr,
			"litifut-ld: warning: %s: the memory has room for a ring of %u KB only: "
			"trace fewer functions (LITIFUT_INCLUDE) for a larger one, or set "
			"LITIFUT_RING_KB=%u if that is enough\n",
			output, outcome->ring_kb, outcome->ring_kb);
	if (outcome->ring_kb_most)
		fprintf(stderr,
			"litifut-ld: warning: %s: LITIFUT_RING_KB: the ring of a firmware has at "
			"most "
			"%u KB, so it has these and not %u\n",
			output, outcome->ring_kb_most, settings->ring_kb);
	if (outcome->few_callees)
		fprintf(stderr,
			"litifut-ld: warning: %s: LITIFUT_CALLEES: a table of more than 64 KB has "
			"16 places where samples are taken: trace fewer functions "
			"(LITIFUT_INCLUDE), or do not set LITIFUT_SAMPLE\n",
			output);
	if (outcome->files_unused)
		warn_of_nothing(output, "",
				"no input has a name of LITIFUT_EXCLUDE_OBJECTS or "
				"LITIFUT_EXCLUDE_LIBS");
	if (outcome->included_files_unused)
		warn_of_nothing(output, "",
				"no input has a name of LITIFUT_INCLUDE_OBJECTS or "
				"LITIFUT_INCLUDE_LIBS: no call is traced");
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
		warn_of_unused(&arguments, &settings, &outcome);
		if (!decision.firmware)
			note_run_settings(&settings);
		return 0;
	}
	scratch_close();
	link_plain(&linker, argv, arguments_output(&arguments), settings.strict, &error);
}
