#include "ldwrap/link_warnings.h"

#include <litifut/module_format.h>
#include <litifut/trace_format.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <libiberty/libiberty.h>

#include "common/site_text.h"

/* A firmware that has so many bytes for heap and stacks is not looked at. */
#define LOW_MEMORY 16384

/* Not by xvasprintf(): libiberty's does not know the lengths of %zu and the like, and takes the
 * arguments behind one for others. */
static char *text_of(const char *format, va_list arguments)
{
	va_list again;
	char *text;
	int length;

	va_copy(again, arguments);
	length = vsnprintf(NULL, 0, format, arguments);
	text = xcalloc((size_t)length + 1, 1);
	vsnprintf(text, (size_t)length + 1, format, again);
	va_end(again);
	return text;
}

static void add_list(struct link_warnings *list, enum link_warning_kind kind, const char *nearest,
		     const char *format, va_list arguments)
{
	list->items = xrealloc(list->items, (list->count + 1) * sizeof(*list->items));
	list->items[list->count++] =
		(struct link_warning){kind, text_of(format, arguments), nearest};
}

static void __attribute__((format(printf, 4, 5)))
add_of_kind(struct link_warnings *list, enum link_warning_kind kind, const char *nearest,
	    const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	add_list(list, kind, nearest, format, arguments);
	va_end(arguments);
}

static void __attribute__((format(printf, 2, 3)))
add(struct link_warnings *list, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	add_list(list, LINK_WARNING_PLAIN, NULL, format, arguments);
	va_end(arguments);
}

/* A firmware whose stack comes upon its heap or its data dies some time later, and nothing says
 * why. */
static void find_low_memory(const struct link_outcome *outcome, struct link_warnings *list)
{
	if (outcome->memory_before && outcome->memory_left < LOW_MEMORY &&
	    outcome->memory_left <= outcome->memory_before / 3)
		add_of_kind(
			list, LINK_WARNING_MEMORY, NULL,
			"%u bytes of memory are left for heap and stacks, %u without the tracer",
			outcome->memory_left, outcome->memory_before);
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
static void find_unused_names(struct link_warnings *list, const char *which,
			      const struct text_list *names,
			      const struct litifut_asked_names *asked, const char *effect)
{
	if (asked->unused)
		add_of_kind(list, LINK_WARNING_NOTHING, asked->nearest,
			    "no function has a name %s (%s%s)%s%s", which, names->items[0],
			    more_than(names), effect, separator_hint(names));
}

static void find_functions(const struct settings *settings, const struct litifut_asked *asked,
			   struct link_warnings *list)
{
	find_unused_names(list, "that LITIFUT_INCLUDE asks for", &settings->include,
			  &asked->includes, ": no call is traced");
	find_unused_names(list, "of LITIFUT_UNITS", &settings->units, &asked->units, "");
	find_unused_names(list, "of LITIFUT_EXCLUDE", &settings->exclude, &asked->excludes, "");
}

/* LITIFUT_ARGS and LITIFUT_TRIGGER */
static void find_arguments(const struct settings *settings, const struct litifut_asked *asked,
			   struct link_warnings *list)
{
	for (size_t i = 0; i < asked->arguments_unused_count; i++)
		add_of_kind(list, LINK_WARNING_NOTHING, asked->arguments_nearest[i],
			    "%s: no call is found of a function named %s (a call through a pointer "
			    "does not name its function)",
			    settings->arguments &&
					    strstr(settings->arguments, asked->arguments_unused[i])
				    ? "LITIFUT_ARGS"
				    : "LITIFUT_TRIGGER",
			    asked->arguments_unused[i]);
	if (asked->argument_unknown)
		add(list,
		    "LITIFUT_ARGS: the parameters of %s are not known: compile with -g, or write "
		    "them: %s:i0,s1",
		    asked->argument_unknown, asked->argument_unknown);
	if (asked->argument_crowded)
		add(list,
		    "LITIFUT_ARGS: more than %u values of a function that %s names: what is too "
		    "much is left out; choose fewer",
		    LITIFUT_ARGUMENT_FIELDS, asked->argument_crowded);
	if (asked->argument_left)
		add(list,
		    "LITIFUT_ARGS: nothing is recorded of %zu calls: a module has room for 255 "
		    "different lists of values; choose fewer",
		    asked->argument_left);
	if (asked->results_left)
		add(list,
		    "LITIFUT_ARGS: what %zu of %zu calls return is not recorded: they have no "
		    "return that can be (a tail call returns in the function around it; litifut "
		    "info names others)",
		    asked->results_left, asked->results);
	if (asked->untimed)
		add(list,
		    "LITIFUT_TRIGGER: %zu of %zu calls are not measured: their returns are not "
		    "recorded (litifut info says why)",
		    asked->untimed, asked->timed);
}

/* Calls and returns that are not recorded. */
static void find_left(const struct settings *settings, const struct link_outcome *outcome,
		      bool shared, struct link_warnings *list)
{
	if (outcome->foreign_calls)
		add(list, "%zu of %zu calls are not traced: %s", outcome->foreign_calls,
		    outcome->calls, litifut_site_reason_text(LITIFUT_SITE_FOREIGN_ISA));
	if (outcome->returns_refused)
		add(list, "LITIFUT_MODE: returns are not recorded: %s", outcome->returns_refused);
	if (outcome->returns_far)
		add(list,
		    "%zu of %zu returns are not recorded, as there is more code for them than can "
		    "be reached: %schoose the objects that are traced (LITIFUT_INCLUDE_OBJECTS)",
		    outcome->returns_far, outcome->returns, shared ? "" : "link with -no-pie, or ");
	if (outcome->times_refused)
		add(list, "LITIFUT_MODE: calls are counted, %s: %s",
		    settings->recorded == LITIFUT_MODE_STREAM ? "without their order" : "not timed",
		    outcome->times_refused);
}

/* A firmware that never starts recording, or never sends what it has recorded. */
static void find_never(const struct settings *settings, const struct link_outcome *outcome,
		       struct link_warnings *list)
{
	const char *handlers = outcome->handlers ? outcome->handlers : "";
	const char *colon = outcome->handlers ? ":" : "";

	if (outcome->never_sent && settings->send && !strncmp(settings->send, "call:", 5))
		add(list,
		    "the results are never sent, as no call by name leads to %s (LITIFUT_SEND), "
		    "and a call through a pointer does not send: name a function that is called "
		    "by its name, or call litifut_send()",
		    settings->send + 5);
	else if (outcome->never_sent)
		add(list,
		    "the results are never sent, as the program calls nothing that sends them "
		    "(_exit, litifut_send, or the function of LITIFUT_SEND): set "
		    "LITIFUT_SEND=call:FUNCTION or tick:N%s%s",
		    colon, handlers);
	if (outcome->never_starts)
		add(list,
		    "nothing is ever recorded, as no call by name leads to %s "
		    "(LITIFUT_START_AT), and a call through a pointer does not start recording: "
		    "name a function that is called by its name, or call litifut_start()",
		    settings->start_at);
	if (outcome->never_ends)
		add(list,
		    "the results are never sent, as main() does not return, and they are sent "
		    "where the program ends: set LITIFUT_SEND=call:FUNCTION or tick:N%s%s",
		    colon, handlers);
}

static void find_clock_user(const struct link_outcome *outcome, struct link_warnings *list)
{
	static const char effect[] = "neither the times nor that part of the program are right: "
				     "use LITIFUT_MODE=counts or stream, or let the program use "
				     "another timer";

	if (outcome->clock_user)
		add(list,
		    "the program uses the timer of LITIFUT_CLOCK itself, as it has a handler of "
		    "its interrupt %u: %s",
		    outcome->clock_user, effect);
	else if (outcome->clock_setter)
		add(list,
		    "the program uses the timer of LITIFUT_CLOCK itself, as its function %s sets "
		    "it up: %s",
		    outcome->clock_setter, effect);
}

/* What a firmware asks for and does not have. */
static void find_smaller(const struct settings *settings, const struct link_outcome *outcome,
			 struct link_warnings *list)
{
	if (outcome->control_missing)
		add(list,
		    "the program uses %s, which does not exist for this LITIFUT_MODE: all is "
		    "recorded, from the start on: choose the functions that are traced "
		    "(LITIFUT_INCLUDE, LITIFUT_EXCLUDE)",
		    outcome->control_missing);
	if (outcome->depth)
		add(list,
		    "the memory has room for no more than %u open calls: those above them are "
		    "counted without their times: trace fewer functions (LITIFUT_INCLUDE), or set "
		    "LITIFUT_DEPTH=%u if these are enough",
		    outcome->depth, outcome->depth);
	if (outcome->ring_kb)
		add(list,
		    "the memory has room for a ring of %u KB only: trace fewer functions "
		    "(LITIFUT_INCLUDE) for a larger one, or set LITIFUT_RING_KB=%u if that is "
		    "enough",
		    outcome->ring_kb, outcome->ring_kb);
	if (outcome->ring_kb_most)
		add(list,
		    "LITIFUT_RING_KB: the ring of a firmware has at most %u KB, so it has these "
		    "and not %u",
		    outcome->ring_kb_most, settings->ring_kb);
	if (outcome->few_callees)
		add(list, "LITIFUT_CALLEES: a table of more than 64 KB has 16 places where samples "
			  "are taken: trace fewer functions (LITIFUT_INCLUDE), or do not set "
			  "LITIFUT_SAMPLE");
}

void link_warnings_find(const struct settings *settings, const struct link_outcome *outcome,
			bool shared, struct link_warnings *list)
{
	*list = (struct link_warnings){0};
	find_low_memory(outcome, list);
	if (outcome->nameless)
		add(list, "-s takes the names of functions away, and litifut-post will show "
			  "addresses, as no file can be put beside it: link without -s, and strip "
			  "a copy for the device");
	find_functions(settings, &outcome->asked, list);
	find_arguments(settings, &outcome->asked, list);
	find_left(settings, outcome, shared, list);
	find_never(settings, outcome, list);
	find_clock_user(outcome, list);
	find_smaller(settings, outcome, list);
	if (outcome->files_unused)
		add_of_kind(list, LINK_WARNING_NOTHING, "",
			    "no input has a name of LITIFUT_EXCLUDE_OBJECTS or "
			    "LITIFUT_EXCLUDE_LIBS");
	if (outcome->included_files_unused)
		add_of_kind(list, LINK_WARNING_NOTHING, "",
			    "no input has a name of LITIFUT_INCLUDE_OBJECTS or "
			    "LITIFUT_INCLUDE_LIBS: no call is traced");
}

void link_warnings_release(struct link_warnings *list)
{
	for (size_t i = 0; i < list->count; i++)
		free(list->items[i].line);
	free(list->items);
	*list = (struct link_warnings){0};
}
