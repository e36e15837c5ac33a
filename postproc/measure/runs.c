/* Figures of each run. */
#include "postproc/measure/runs.h"

#include <math.h>
#include <stdlib.h>

#include "postproc/model/clock.h"
#include "postproc/sources/table_calls.h"
#include "postproc/sources/table_chunk.h"

static struct post_run_cell *cell_of(struct post_runs *runs, uint32_t run, uint32_t function)
{
	struct post_key key = {{run, function}};
	uint32_t number = post_table_find(&runs->index, key);

	if (number == POST_NONE) {
		POST_GROW(runs->cells, runs->cell_count, runs->capacity);
		number = (uint32_t)runs->cell_count++;
		runs->cells[number] = (struct post_run_cell){.run = run, .function = function};
		post_table_put(&runs->index, key, number);
	}
	return &runs->cells[number];
}

const struct post_run_cell *post_runs_cell(const struct post_runs *runs, uint32_t run,
					   uint32_t function)
{
	uint32_t number = post_table_find(&runs->index, (struct post_key){{run, function}});

	return number == POST_NONE ? NULL : &runs->cells[number];
}

/* Processes in the order of their start: a parent comes before its children, and a number that
 * was used again belongs to the later process. */
static int by_start(const void *left, const void *right)
{
	const struct litifut_trace_header *a =
		&(*(struct post_process *const *)left)->trace->header;
	const struct litifut_trace_header *b =
		&(*(struct post_process *const *)right)->trace->header;

	if (a->start_realtime_ns != b->start_realtime_ns)
		return a->start_realtime_ns < b->start_realtime_ns ? -1 : 1;
	return a->pid < b->pid ? -1 : a->pid > b->pid;
}

static void find_runs(struct post_runs *runs, const struct post_session *session)
{
	struct post_process **order = post_allocate(session->process_count + 1, sizeof(*order));

	runs->run_of = post_allocate(session->process_count + 1, sizeof(*runs->run_of));
	for (size_t i = 0; i < session->process_count; i++)
		order[i] = session->processes[i];
	qsort(order, session->process_count, sizeof(*order), by_start);
	for (size_t i = 0; i < session->process_count; i++) {
		uint32_t parent = order[i]->trace->header.parent_pid, run = POST_NONE;
		for (size_t j = i; j-- > 0 && run == POST_NONE;) {
			if (order[j]->trace->header.pid == parent &&
			    order[i]->trace->header.pid != parent)
				run = runs->run_of[order[j]->index];
		}
		runs->run_of[order[i]->index] = run == POST_NONE ? runs->count++ : run;
	}
	free(order);
}

static double nanoseconds(const struct post_process *process, uint64_t ticks)
{
	uint64_t hertz = post_clock_hertz(process);

	return hertz ? (double)ticks * 1e9 / (double)hertz : (double)ticks;
}

struct reader {
	struct post_runs *runs;
	struct post_session *session;
	struct post_process *process;
};

static void take_item(void *context, const struct post_table_item *item)
{
	struct reader *reader = context;
	uint32_t call = post_session_site_call(reader->session, reader->process, item->module,
					       item->site, item->callee);

	if (call == POST_NONE || reader->session->calls[call].hidden)
		return;
	struct post_run_cell *cell =
		cell_of(reader->runs, reader->runs->run_of[reader->process->index],
			reader->session->calls[call].callee);
	cell->calls += item->count;
	if (item->minimum > item->maximum)
		return;
	cell->timed += item->count;
	cell->self +=
		item->hertz ? (double)item->self * 1e9 / (double)item->hertz : (double)item->self;
	reader->runs->timed = true;
}

static uint32_t resolve_exit(void *context, uint32_t epoch, uint32_t exit)
{
	const struct reader *reader = context;

	return post_session_exit(reader->session, reader->process, epoch, exit);
}

static void take_table_call(void *context, const struct post_table_call *item)
{
	struct reader *reader = context;
	const struct litifut_table_call *made = &item->call;
	uint32_t kind = !made->callee                      ? LITIFUT_WORD_CALL
			: made->exit == LITIFUT_TABLE_TAIL ? LITIFUT_WORD_TAIL
							   : LITIFUT_WORD_INDIRECT;
	uint32_t call = post_session_call(reader->session, reader->process, made->epoch, kind,
					  made->address, made->callee);

	if (call & POST_RETURN || reader->session->calls[call].hidden)
		return;
	struct post_run_cell *cell =
		cell_of(reader->runs, reader->runs->run_of[reader->process->index],
			reader->session->calls[call].callee);
	uint64_t timed = made->count - made->untimed - item->open;
	cell->calls += made->count;
	cell->timed += timed;
	if (timed)
		cell->self += nanoseconds(reader->process, made->self);
	reader->runs->timed |= timed != 0;
}

void post_runs_start(struct post_runs *runs, struct post_session *session)
{
	*runs = (struct post_runs){0};
	find_runs(runs, session);
	for (size_t i = 0; i < session->process_count; i++) {
		struct reader reader = {runs, session, session->processes[i]};
		const struct post_trace *trace = session->processes[i]->trace;
		/* What is damaged there is reported where the measures read it. */
		struct post_problems silent = {0};
		post_table_chunks_read(trace, take_item, &reader, &silent);
		if (trace->header.mode == LITIFUT_MODE_TABLE)
			post_table_calls_read(trace, resolve_exit, take_table_call, &reader,
					      &silent);
	}
}

void post_runs_take(struct post_runs *runs, const struct post_session *session,
		    const struct post_timeline_event *event)
{
	static const unsigned untimed = POST_EVENT_CUT | POST_EVENT_OPEN | POST_EVENT_GUESSED |
					POST_EVENT_APPROX | POST_EVENT_BEFORE;
	const struct post_process *process =
		session->processes[session->lanes[event->lane]->process];

	if (event->kind > POST_EVENT_LEAVE || event->site == POST_NONE ||
	    event->flags & POST_EVENT_BEFORE)
		return;
	struct post_run_cell *cell = cell_of(runs, runs->run_of[process->index], event->callee);
	if (event->kind == POST_EVENT_ENTER) {
		cell->calls++;
		return;
	}
	if (event->flags & untimed || !process->returns || !post_clock_runs(process))
		return;
	double self = nanoseconds(process, event->value);
	cell->timed++;
	cell->self += self;
	cell->squares += self * self;
	runs->timed = true;
}

static void add(struct post_spread *spread, double value, uint32_t number)
{
	double before = value - spread->mean;

	if (!number || value < spread->least)
		spread->least = value;
	if (!number || value > spread->most)
		spread->most = value;
	spread->mean += before / (number + 1);
	spread->deviation += before * (value - spread->mean); /* sum of squares, until the end */
}

struct post_run_row post_runs_row(const struct post_runs *runs, uint32_t function)
{
	struct post_run_row row = {.function = function};
	const struct post_run_cell *cell = NULL;

	for (uint32_t run = 0; run < runs->count; run++) {
		cell = post_runs_cell(runs, run, function);
		row.runs += cell && cell->calls;
		row.timed |= cell && cell->timed;
		add(&row.calls, cell ? (double)cell->calls : 0, run);
		add(&row.self, cell ? cell->self : 0, run);
	}
	if (runs->count > 1) {
		row.calls.deviation = sqrt(row.calls.deviation / (runs->count - 1));
		row.self.deviation = sqrt(row.self.deviation / (runs->count - 1));
		return row;
	}
	row.calls.deviation = row.self.deviation = -1;
	if (cell && cell->timed > 1 && cell->squares > 0) {
		double count = (double)cell->timed, mean = cell->self / count;
		double variance = (cell->squares - count * mean * mean) / (count - 1);
		row.self.deviation = variance > 0 ? sqrt(count * variance) : 0;
	}
	return row;
}

void post_runs_release(struct post_runs *runs)
{
	free(runs->run_of);
	free(runs->cells);
	post_table_release(&runs->index);
	*runs = (struct post_runs){0};
}
