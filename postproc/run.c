/* The order in which chunks are read, and the way of each event through the
 * filters to the format. */
#include "postproc/run.h"

#include <string.h>

#include "postproc/count.h"

struct run {
	struct post_session *session;
	const struct post_format *format;
	struct post_output *output;
	const struct post_run_options *options;
	uint64_t done, all;
};

static void advance(struct run *run, size_t bytes)
{
	run->done += bytes;
	if (run->options->progress)
		run->options->progress(run->options->context, run->done, run->all);
}

static void event_chunk(struct run *run, struct post_process *process, size_t chunk)
{
	struct post_session *session = run->session;
	struct post_thread *thread =
		post_session_thread(process, process->trace->chunks[chunk].thread);
	bool wanted = post_thread_wanted(session, thread->id);
	const struct post_window *window = &run->options->window;
	struct post_cursor cursor;
	struct post_item item;

	post_cursor_start(&cursor, process->trace, chunk, session->problems);
	while (post_cursor_next(&cursor, &item)) {
		if (item.kind > LITIFUT_WORD_TAIL) {
			post_apply_state(process, &thread, &item);
			wanted = post_thread_wanted(session, thread->id);
			continue;
		}
		uint64_t sequence = thread->sequence++;
		process->events++;
		if (!wanted)
			continue;
		if (window->by_event &&
		    (sequence < window->first_event || sequence > window->last_event))
			continue;
		uint32_t call = post_session_call(session, process, thread->epoch, item.kind,
						  item.return_address, item.callee);
		session->calls[call].count++;
		if (session->calls[call].hidden || !run->format->event)
			continue;
		struct post_event event = {.process = process,
					   .thread = thread,
					   .sequence = sequence,
					   .time = item.time,
					   .call = call};
		run->format->event(run->output, &event);
	}
	process->holes += cursor.holes;
}

static void read_process(struct run *run, struct post_process *process)
{
	bool counting = !run->format->event && !run->options->window.by_event &&
			!run->options->window.by_time;

	for (size_t i = 0; i < process->trace->chunk_count; i++) {
		if (counting)
			post_count_chunk(run->session, process, i);
		else
			event_chunk(run, process, i);
		advance(run, process->trace->header.chunk_bytes);
	}
}

static void sum_up(const struct post_session *session, struct post_totals *totals)
{
	*totals = (struct post_totals){.processes = session->process_count};
	for (size_t i = 0; i < session->process_count; i++) {
		const struct post_process *process = session->processes[i];
		uint64_t lost = 0;
		for (size_t t = 0; t < process->thread_count; t++) {
			lost += process->threads[t]->lost;
			totals->threads += process->threads[t]->sequence != 0;
		}
		/* The header counts all, the stream says where: not both. */
		totals->lost += lost > process->lost ? lost : process->lost;
		totals->events += process->events;
		totals->holes += process->holes;
	}
	for (size_t i = 1; i < session->module_count; i++)
		totals->modules += session->modules[i].traced;
	for (size_t i = 0; i < session->call_count; i++) {
		const struct post_call *call = &session->calls[i];
		if (call->hidden)
			continue;
		totals->shown += call->count;
		if (call->unresolved)
			totals->unresolved += call->count;
	}
}

void post_run(struct post_session *session, const struct post_format *format,
	      struct post_output *output, const struct post_run_options *options,
	      struct post_totals *totals)
{
	struct run run = {session, format, output, options, 0, 0};

	for (size_t i = 0; i < session->process_count; i++)
		run.all += session->processes[i]->trace->chunk_count *
			   (uint64_t)session->processes[i]->trace->header.chunk_bytes;
	if (format->start)
		format->start(output);
	for (size_t i = 0; i < session->process_count; i++)
		read_process(&run, session->processes[i]);
	if (format->finish)
		format->finish(output);
	sum_up(session, totals);
	post_session_conclude(session);
}
