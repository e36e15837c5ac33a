/* What is missing in a report, with the command or setting that cures it. */
#include "postproc/formats/html/missing.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>

#include "postproc/formats/losses.h"
#include "postproc/formats/wrong_settings.h"
#include "postproc/formats/text.h"
#include "postproc/measure/measure.h"
#include "postproc/timeline/timeline.h"

struct list {
	FILE *file;
	bool some;
};

static void write_one(struct list *list, const char *cure, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static void write_one(struct list *list, const char *cure, const char *format, ...)
{
	char what[512];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(what, sizeof(what), format, arguments);
	va_end(arguments);
	fputs(list->some ? ",\n{\"what\":" : "\n{\"what\":", list->file);
	post_write_json_text(list->file, what);
	fputs(",\"cure\":", list->file);
	post_write_json_text(list->file, cure);
	putc('}', list->file);
	list->some = true;
}

/* The command line that was given, and one more word. */
static void write_command(struct list *list, const struct post_output *output, const char *more,
			  const char *what)
{
	struct post_text cure = {0};

	post_text_format(&cure, "%s %s",
			 output->options.command ? output->options.command
						 : "litifut-post -f html -o report.html TRACE",
			 more);
	write_one(list, cure.bytes, "%s", what);
	free(cure.bytes);
}

static void write_modules(struct list *list, const struct post_output *output)
{
	const struct post_session *session = output->session;
	char what[512], more[300];

	for (size_t i = 1; i < session->module_count; i++) {
		const struct post_module *module = &session->modules[i];
		uint64_t calls = module->unnamed_events > module->no_callee ? module->unnamed_events
									    : module->no_callee;
		if (!module->traced || !calls)
			continue;
		snprintf(more, sizeof(more), "PATH/TO/%.200s", module->name);
		if (!module->image) {
			snprintf(what, sizeof(what),
				 "%" PRIu64 " calls from or into %.200s have no names: no ELF file "
				 "with its build-id was given. Give the file as it was linked, "
				 "before it was stripped.",
				 calls, module->name);
		} else if (!module->image->has_symbol_table) {
			snprintf(what, sizeof(what),
				 "%" PRIu64 " calls from or into %.200s have no names: the file is "
				 "stripped. Give the file as it was linked, or its debug file.",
				 calls, module->name);
		} else if (module->no_callee && !module->image->has_site_list) {
			snprintf(what, sizeof(what),
				 "Where %" PRIu64 " calls from %.200s lead is not known: the file "
				 "has no list of call sites. Give the file as it was linked.",
				 module->no_callee, module->name);
		} else {
			continue;
		}
		write_command(list, output, more, what);
	}
}

static void write_losses(struct list *list, const struct post_output *output)
{
	const struct post_session *session = output->session;

	for (size_t i = 0; i < session->process_count; i++) {
		const struct post_process *process = session->processes[i];
		const struct litifut_trace_header *header = &process->trace->header;
		struct post_text lost = {0}, paused = {0};

		if (post_losses_text(process, &lost))
			write_one(list,
				  header->overwritten ? "LITIFUT_RING_KB=N with a larger N"
				  : post_losses_are_of_bound(process)
					  ? "LITIFUT_MAX_MB=N with a larger N, LITIFUT_RING_KB=N "
					    "to keep the last calls, or LITIFUT_DEDUP=1 to record "
					    "each call once"
					  : "LITIFUT_DIR=FOLDER on a file system with more room, "
					    "LITIFUT_EXCLUDE=NAMES at the link, or LITIFUT_DEDUP=1",
				  "%s.", lost.bytes);
		if (post_pauses_text(process, &paused))
			write_one(list, "", "%s.", paused.bytes);
		free(lost.bytes);
		free(paused.bytes);
		if (header->state != LITIFUT_TRACE_STOPPED)
			write_one(list, "",
				  "%s (process %u) still ran, ended without exit() (killed, "
				  "_exit), or went on as another "
				  "program. What it had recorded by then is shown.",
				  header->program, header->pid);
	}
	if (output->totals->deduplicated)
		write_one(list, "LITIFUT_DEDUP=0",
			  "Each call site and callee was recorded once (LITIFUT_DEDUP): the counts "
			  "do not say how often. Up to %.3f %% of the calls may be missing.",
			  100 * output->totals->missing);
}

static void write_wrong_setting(void *list, const char *line)
{
	write_one(list, "", "When the program ran, %s.", line);
}

static void write_returns(struct list *list, const struct post_output *output)
{
	uint64_t calls = post_measures_unreturned(output->measures);

	if (calls)
		write_one(list, "litifut info --skipped PROGRAM",
			  "Calls without a time, as their return is not recorded: %" PRIu64
			  ". Their own time is in the self time of the function around them.",
			  calls);
}

static void write_times(struct list *list, const struct post_output *output)
{
	enum post_timing timing =
		output->measures ? post_measures_timing(output->measures) : POST_TIMING_NONE;

	if (timing == POST_TIMING_MEASURED) {
		struct post_text taken = {0};

		post_taken_text(output->session, &taken);
		write_one(list, "", "%s.", taken.bytes);
		free(taken.bytes);
		write_returns(list, output);
	}
	if (timing == POST_TIMING_NONE && output->totals->clockless)
		write_one(list, "LITIFUT_CLOCK=mono ./PROGRAM",
			  "There are no times: returns were recorded, but no clock can be read "
			  "cheaply where the program ran.");
	else if (timing == POST_TIMING_NONE)
		write_one(list, "LITIFUT_MODE=spans litifut build make",
			  "There are no times: only the order of calls was recorded.");
	else if (timing == POST_TIMING_BOUNDS)
		write_one(list, "LITIFUT_MODE=spans litifut build make",
			  "Times are bounds: calls were recorded with their time, returns were "
			  "not.");
	if (output->measures && !output->measures->hertz)
		write_one(list, "",
			  "How long a tick of the clock is, is not known: times are ticks.");
}

void post_html_missing_write(struct post_output *output, uint64_t calls)
{
	const struct post_problems *problems = output->session->problems;
	struct list list = {.file = output->file};

	fputs("\"missing\":[", output->file);
	write_modules(&list, output);
	write_losses(&list, output);
	post_wrong_settings_each(output->totals, write_wrong_setting, &list);
	if (calls)
		write_times(&list, output);
	fputs("],\n\"problems\":[", output->file);
	for (size_t i = 0; i < problems->line_count; i++) {
		fputs(i ? ",\n" : "\n", output->file);
		post_write_json_text(output->file, problems->lines[i]);
	}
	fputs("],\n", output->file);
}
