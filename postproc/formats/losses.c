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

bool post_losses_text(const struct post_process *process, struct post_text *text)
{
	const struct litifut_trace_header *header = &process->trace->header;
	const uint64_t lost = post_timeline_lost(process);

	if (!lost && !header->overwritten)
		return false;
	if (lost) {
		post_text_format(text, "%" PRIu64 " %s of ", lost,
				 process->returns ? "calls and returns" : "calls");
		add_process(text, process);
		post_text_add(text, " were lost");
		if (header->lost_to && post_clock_runs(process))
			post_text_format(text, " from %.3f s to %.3f s after its start",
					 seconds(process, header->lost_from),
					 seconds(process, header->lost_to));
		post_text_add(text, ": there was no room for them");
		if (header->max_bytes)
			post_text_format(text, " (a trace may have %" PRIu64 " KiB)",
					 header->max_bytes >> 10);
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
