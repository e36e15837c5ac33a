/* Figures of each run. */
#include "postproc/measure/runs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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

/* What a function has in a run; NULL: nothing. */
static const struct post_run_cell *find_cell(const struct post_runs *runs, uint32_t run,
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

	if (!item->count)
		return;
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
		cell = find_cell(runs, run, function);
		row.runs += cell && cell->calls;
		row.timed |= cell && cell->timed;
		add(&row.calls, cell ? (double)cell->calls : 0, run);
		if (!cell || !cell->calls || cell->timed)
			add(&row.self, cell ? cell->self : 0, row.self_runs++);
	}
	row.self.deviation =
		row.self_runs > 1 ? sqrt(row.self.deviation / (row.self_runs - 1)) : -1;
	if (runs->count > 1) {
		row.calls.deviation = sqrt(row.calls.deviation / (runs->count - 1));
		return row;
	}
	row.calls.deviation = -1;
	if (cell && cell->timed > 1 && cell->squares > 0) {
		double count = (double)cell->timed, mean = cell->self / count;
		double variance = (cell->squares - count * mean * mean) / (count - 1);
		row.self.deviation = variance > 0 ? sqrt(count * variance) : 0;
	}
	return row;
}

/* The process that began the run of this one. */
static const struct post_process *beginner_of(const struct post_session *session,
					      const struct post_runs *runs, size_t process)
{
	size_t first = process;

	for (size_t i = 0; i < session->process_count; i++) {
		const struct post_process *a = session->processes[i];
		if (runs->run_of[i] == runs->run_of[process] &&
		    by_start(&a, &session->processes[first]) < 0)
			first = i;
	}
	return session->processes[first];
}

static int by_text(const void *left, const void *right)
{
	return strcmp(*(const char *const *)left, *(const char *const *)right);
}

/* Names of the functions that were called in the module that was first in a process, as a program
 * is; sorted, each once. The caller frees the list. */
static const char **called_names(const struct post_session *session,
				 const struct post_process *process, size_t *count)
{
	const char **names = post_allocate(session->call_count + 1, sizeof(*names));
	size_t kept = 0;

	*count = 0;
	for (size_t i = 0; i < session->call_count; i++) {
		const struct post_function *function =
			&session->functions[session->calls[i].callee];
		if (session->calls[i].count && !session->calls[i].own &&
		    process->trace->module_count && function->module == process->mappings[0].module)
			names[(*count)++] = function->name;
	}
	qsort(names, *count, sizeof(*names), by_text);
	for (size_t i = 0; i < *count; i++) {
		if (!kept || strcmp(names[kept - 1], names[i]))
			names[kept++] = names[i];
	}
	*count = kept;
	return names;
}

static bool names_agree(const struct post_session *left, const struct post_process *one,
			const struct post_session *right, const struct post_process *other)
{
	size_t counts[2], common = 0;
	const char **a = called_names(left, one, &counts[0]);
	const char **b = called_names(right, other, &counts[1]);

	for (size_t i = 0, j = 0; i < counts[0] && j < counts[1];) {
		int order = strcmp(a[i], b[j]);
		common += !order;
		i += order <= 0;
		j += order >= 0;
	}
	free(a);
	free(b);
	return common && 2 * common >= (counts[0] < counts[1] ? counts[0] : counts[1]);
}

bool post_runs_of_programs(const struct post_session *session, const struct post_session *second,
			   const char **one, const char **other)
{
	const struct post_session *sessions[] = {session, second ? second : session};
	const struct post_process *found[2] = {NULL, NULL};
	struct post_runs runs[2] = {{0}};
	bool same = false;

	for (size_t i = 0; i < 2; i++)
		find_runs(&runs[i], sessions[i]);
	for (size_t i = 0; i < session->process_count; i++) {
		const struct post_process *a = beginner_of(session, &runs[0], i);
		for (size_t j = 0; j < sessions[1]->process_count; j++) {
			const struct post_process *b = beginner_of(sessions[1], &runs[1], j);
			const char *names[] = {a->trace->header.program, b->trace->header.program};
			bool differ = *names[0] && *names[1] && strcmp(names[0], names[1]);
			same |= second && !differ;
			if (!differ || found[0])
				continue;
			found[0] = a;
			found[1] = b;
		}
	}
	for (size_t i = 0; i < 2; i++)
		post_runs_release(&runs[i]);
	if (!found[0] || same || (second && names_agree(session, found[0], second, found[1])))
		return false;
	*one = found[0]->trace->header.program;
	*other = found[1]->trace->header.program;
	return true;
}

void post_runs_release(struct post_runs *runs)
{
	free(runs->run_of);
	free(runs->cells);
	post_table_release(&runs->index);
	*runs = (struct post_runs){0};
}
