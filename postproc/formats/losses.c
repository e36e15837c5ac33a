#include "postproc/formats/losses.h"

#include <inttypes.h>
#include <stdlib.h>

#include "postproc/model/clock.h"
#include "postproc/timeline/timeline.h"

#define MOST_LINES 8u

static void add_process(struct post_text *text, const struct post_process *process)
{
	const struct litifut_trace_header *header = &process->trace->header;

	post_text_format(text, "%s (process %u)", header->program, header->pid);
}

/* Seconds after the start of the process. */
static double seconds(const struct post_process *process, uint64_t ticks)
{
	const uint64_t start = process->trace->header.start_monotonic_ns;
	const uint64_t at = post_clock_ns(process, ticks);

	return at > start ? (double)(at - start) / 1e9 : 0;
}

bool post_losses_are_of_bound(const struct post_process *process)
{
	const struct post_trace *trace = process->trace;

	/* The file may have fewer bytes than the bound by a chunk, or by its unused end. */
	return trace->header.max_bytes && trace->size >= trace->header.max_bytes / 2;
}

bool post_losses_text(const struct post_process *process, struct post_text *text)
{
	const struct litifut_trace_header *header = &process->trace->header;
	const uint64_t lost = post_timeline_lost(process);

	if (!lost && !header->overwritten)
		return false;
	if (lost) {
		post_text_format(text, "%s%" PRIu64 " %s of ",
				 process->trace->lost_at_least ? "At least " : "", lost,
				 post_timeline_lost_what(process));
		add_process(text, process);
		post_text_add(text, " were lost");
		if (header->lost_to && post_clock_runs(process))
			post_text_format(text, " from %.3f s to %.3f s after its start",
					 seconds(process, header->lost_from),
					 seconds(process, header->lost_to));
		post_text_add(text, ": there was no room for them");
		if (post_losses_are_of_bound(process))
			post_text_format(text, " (a trace may have %" PRIu64 " KiB)",
					 header->max_bytes >> 10);
		else if (header->max_bytes)
			post_text_add(text, " (the file could not be made longer)");
	} else {
		add_process(text, process);
		post_text_format(text,
				 " has recorded into a ring: %" PRIu32
				 " chunks from its beginning were replaced by newer ones",
				 header->overwritten);
	}
	return true;
}

bool post_pauses_text(const struct post_process *process, struct post_text *text)
{
	const struct litifut_trace_header *header = &process->trace->header;

	if (!header->pauses)
		return false;
	post_text_add(text, "Recording of ");
	add_process(text, process);
	post_text_format(text,
			 " was switched off %" PRIu32 " time%s, %.3f s in all: what was called "
			 "meanwhile is missing, and that time is part of the calls that were open",
			 header->pauses, header->pauses == 1 ? "" : "s",
			 (double)header->paused * (1 << LITIFUT_PAUSE_SHIFT) / 1e9);
	return true;
}

void post_losses_write(FILE *file, const struct post_session *session, const char *before,
		       const char *behind)
{
	bool (*const about[])(const struct post_process *, struct post_text *) = {post_losses_text,
										  post_pauses_text};
	size_t lines = 0;

	for (size_t i = 0; i < session->process_count; i++)
		for (size_t a = 0; a < sizeof(about) / sizeof(*about); a++) {
			struct post_text text = {0};

			if (about[a](session->processes[i], &text) && lines++ < MOST_LINES)
				fprintf(file, "%s%s.%s", before, text.bytes, behind);
			free(text.bytes);
		}
	if (lines > MOST_LINES)
		fprintf(file, "%sThe same of other processes: %zu more such lines.%s", before,
			lines - MOST_LINES, behind);
}

/* The process whose header names the highest cost of an event; NULL: none names one. `all`: each of
 * them does. */
static const struct post_process *dearest(const struct post_session *session, bool *all)
{
	const struct post_process *found = NULL;

	*all = true;
	for (size_t i = 0; i < session->process_count; i++) {
		const struct post_process *process = session->processes[i];
		const uint32_t cost = process->trace->header.event_cost;

		*all &= cost != 0;
		if (cost && (!found || cost > found->trace->header.event_cost))
			found = process;
	}
	return found;
}

/* Are all times those of tables without the tracer's time? */
static bool are_measured(const struct post_session *session)
{
	for (size_t i = 0; i < session->process_count; i++)
		if (!session->processes[i]->trace->cost_taken)
			return false;
	return session->process_count != 0;
}

/* Was it measured, but is missing in what was captured? */
static bool lack_cost(const struct post_session *session)
{
	for (size_t i = 0; i < session->process_count; i++)
		if (session->processes[i]->trace->cost_missing)
			return true;
	return false;
}

bool post_taken_is_off(const struct post_session *session)
{
	bool all;

	return dearest(session, &all) && all && !session->options.raw;
}

void post_taken_text(const struct post_session *session, struct post_text *text)
{
	bool all;
	const struct post_process *process = dearest(session, &all);
	const double ticks = process ? (double)process->trace->header.event_cost / 256 : 0;
	const double hertz = process ? (double)post_clock_hertz(process) : 0;

	if (!process && are_measured(session)) {
		post_text_add(text,
			      "The tracer's time is taken off self times and each call's own time, "
			      "but its time in interrupt handlers is part of the functions that "
			      "they interrupt. The total of a function has what the tracer adds to "
			      "the calls inside of it");
		return;
	}
	if (!process) {
		post_text_format(
			text,
			"The tracer's time is part of these times: %s. Functions that receive or "
			"make many short calls seem slower than they are",
			lack_cost(session) ? "how long it is has not arrived with the others"
					   : "it was not measured");
		return;
	}
	post_text_format(text, "The tracer's time, ");
	if (hertz > 0)
		post_text_format(text, "%.1f ns", ticks * 1e9 / hertz);
	else
		post_text_format(text, "%.2f ticks", ticks);
	post_text_add(text, " for each call and each return");
	post_text_add(text, session->options.raw ? ", is part of these times, but not of those of "
						   "tables (--raw)"
						 : ", is taken off (--raw leaves it in)");
	if (!all)
		post_text_add(text, "; of some processes it is not known, and part of the times");
}
