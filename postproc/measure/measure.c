/* Sums of calls and times. */
#include "postproc/measure/measure.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "postproc/model/clock.h"
#include "postproc/sources/table_calls.h"
#include "postproc/timeline/count.h"
#include "postproc/timeline/nesting.h"

static void reserve(struct post_metrics **array, size_t *have, size_t count)
{
	if (count <= *have)
		return;
	*array = post_reallocate(*array, count * 2, sizeof(**array));
	memset(*array + *have, 0, (count * 2 - *have) * sizeof(**array));
	*have = count * 2;
}

uint64_t post_measures_scaled(const struct post_measures *measures, uint64_t ticks, uint64_t hertz)
{
	if (!measures->mixed || hertz == measures->hertz || !hertz)
		return ticks;
	return (uint64_t)((double)ticks * (double)measures->hertz / (double)hertz);
}

static void add_timed(struct post_metrics *metrics, uint64_t count, uint64_t total, uint64_t self,
		      uint64_t minimum, uint64_t maximum)
{
	uint64_t *value = metrics->value;

	if (!value[POST_METRIC_TIMED] || minimum < value[POST_METRIC_MIN])
		value[POST_METRIC_MIN] = minimum;
	if (maximum > value[POST_METRIC_MAX])
		value[POST_METRIC_MAX] = maximum;
	value[POST_METRIC_TIMED] += count;
	value[POST_METRIC_TOTAL] += total;
	value[POST_METRIC_SUM] += total;
	value[POST_METRIC_SELF] += self;
}

uint64_t post_measures_unreturned(const struct post_measures *measures)
{
	uint64_t calls = 0;

	for (uint32_t i = 0; i < measures->session->function_count; i++)
		calls += measures->functions[i].value[POST_METRIC_APPROX];
	return calls;
}

void post_metrics_add(struct post_metrics *sum, const struct post_metrics *more)
{
	static const enum post_metric others[] = {
		POST_METRIC_CALLS, POST_METRIC_CUT,  POST_METRIC_OPEN,      POST_METRIC_APPROX,
		POST_METRIC_LEAST, POST_METRIC_MOST, POST_METRIC_CLOCKLESS, POST_METRIC_SELFLESS};

	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		sum->value[others[i]] += more->value[others[i]];
	if (more->value[POST_METRIC_TIMED])
		add_timed(sum, more->value[POST_METRIC_TIMED], more->value[POST_METRIC_TOTAL],
			  more->value[POST_METRIC_SELF], more->value[POST_METRIC_MIN],
			  more->value[POST_METRIC_MAX]);
}

static void take_leave(struct post_measures *measures, const struct post_timeline_event *event)
{
	const struct post_session *session = measures->session;
	const struct post_frame *frame = post_nesting_frame(session, event);
	const struct post_process *process =
		session->processes[session->lanes[event->lane]->process];
	uint64_t hertz = measures->mixed ? post_clock_hertz(process) : 0;
	uint64_t most = post_measures_scaled(measures, event->time - frame->time, hertz);
	uint64_t least = post_measures_scaled(measures, frame->last - frame->time, hertz);
	uint64_t self = post_measures_scaled(measures, event->value, hertz);
	bool outermost = !frame->previous_same;
	uint64_t *function = measures->functions[event->callee].value;
	if (event->flags & POST_EVENT_BEFORE)
		return;
	if (!event->depth)
		measures->lanes[event->lane].value[POST_METRIC_TOTAL] += most;
	if (event->site == POST_NONE) { /* its own enter is not known */
		function[POST_METRIC_LEAST] += outermost ? least : 0;
		return;
	}
	struct post_metrics *metrics = &measures->calls[event->site];
	if (!(event->flags &
	      (POST_EVENT_CUT | POST_EVENT_OPEN | POST_EVENT_GUESSED | POST_EVENT_APPROX))) {
		if (!post_clock_runs(process)) {
			metrics->value[POST_METRIC_CLOCKLESS]++;
			return;
		}
		add_timed(metrics, 1, most, self, most, most);
		measures->lanes[event->lane].value[POST_METRIC_SELF] += self;
		/* A call around it whose return is not recorded adds nothing. */
		function[POST_METRIC_TOTAL] += frame->sure_same ? 0 : most;
		return;
	}
	enum post_metric kind = event->flags & POST_EVENT_CUT    ? POST_METRIC_CUT
				: event->flags & POST_EVENT_OPEN ? POST_METRIC_OPEN
								 : POST_METRIC_APPROX;
	metrics->value[kind]++;
	metrics->value[POST_METRIC_LEAST] += least;
	metrics->value[POST_METRIC_MOST] += most;
	function[POST_METRIC_LEAST] += outermost ? least : 0;
	function[POST_METRIC_MOST] += outermost ? most : 0;
}

void post_measures_take(struct post_measures *measures, const struct post_timeline_event *event)
{
	const struct post_session *session = measures->session;

	reserve(&measures->functions, &measures->function_capacity, session->function_count);
	reserve(&measures->calls, &measures->call_capacity, session->call_count);
	reserve(&measures->lanes, &measures->lane_capacity, session->lane_count);
	if (event->kind == POST_EVENT_LEAVE) {
		take_leave(measures, event);
	} else if (event->kind == POST_EVENT_ENTER && event->site != POST_NONE &&
		   !(event->flags & POST_EVENT_BEFORE)) {
		measures->calls[event->site].value[POST_METRIC_CALLS]++;
		measures->lanes[event->lane].value[POST_METRIC_CALLS]++;
	}
}

struct table_reader {
	struct post_measures *measures;
	struct post_process *process;
};

static void take_item(void *context, const struct post_table_item *item)
{
	struct table_reader *reader = context;
	struct post_measures *measures = reader->measures;
	struct post_session *session = measures->session;
	/* The sums are those of all tasks together; take_tasks() fills the lanes of tasks. */
	const bool of_tasks = reader->process->trace->task_count != 0;
	struct post_thread *thread =
		of_tasks ? NULL : post_session_thread(session, reader->process, item->thread);
	uint32_t call = post_session_site_call(session, reader->process, item->module, item->site,
					       item->callee);
	bool wanted = of_tasks || post_thread_wanted(session, item->thread);

	if (item->missing)
		post_self_missing(measures, reader->process, item, call);
	if (thread)
		thread->sequence += item->count;
	reader->process->events += item->count;
	if (call == POST_NONE)
		measures->left_out += item->count;
	if (call == POST_NONE || !wanted)
		return;
	session->calls[call].count += item->count;
	reserve(&measures->calls, &measures->call_capacity, session->call_count);
	reserve(&measures->lanes, &measures->lane_capacity, session->lane_count);
	uint64_t *lane = thread ? measures->lanes[thread->lane].value : NULL;
	struct post_metrics *metrics = &measures->calls[call];
	metrics->value[POST_METRIC_CALLS] += item->count;
	if (lane)
		lane[POST_METRIC_CALLS] += item->count;
	metrics->value[POST_METRIC_OPEN] += item->open;
	if (item->no_self)
		post_self_take(measures, call, item);
	if (item->minimum > item->maximum) {
		metrics->value[POST_METRIC_APPROX] += item->count - item->open;
		return;
	}
	metrics->value[POST_METRIC_APPROX] += item->untimed;
	add_timed(metrics, item->count - item->open - item->untimed,
		  post_measures_scaled(measures, item->sum, item->hertz),
		  post_measures_scaled(measures, item->self, item->hertz),
		  post_measures_scaled(measures, item->minimum, item->hertz),
		  post_measures_scaled(measures, item->maximum, item->hertz));
	if (lane)
		lane[POST_METRIC_SELF] += post_measures_scaled(measures, item->self, item->hertz);
	/* It is not known which of them were outermost. */
	if (session->calls[call].caller != session->calls[call].callee) {
		reserve(&measures->functions, &measures->function_capacity,
			session->function_count);
		measures->functions[session->calls[call].callee].value[POST_METRIC_TOTAL] +=
			post_measures_scaled(measures, item->sum, item->hertz);
	}
}

static uint32_t resolve_exit(void *context, uint32_t epoch, uint32_t exit)
{
	const struct table_reader *reader = context;

	return post_session_exit(reader->measures->session, reader->process, epoch, exit);
}

static void take_table_call(void *context, const struct post_table_call *item)
{
	struct table_reader *reader = context;
	struct post_measures *measures = reader->measures;
	struct post_session *session = measures->session;
	const struct litifut_table_call *made = &item->call;
	struct post_thread *thread = post_session_thread(session, reader->process, item->thread);
	uint32_t kind = !made->callee                      ? LITIFUT_WORD_CALL
			: made->exit == LITIFUT_TABLE_TAIL ? LITIFUT_WORD_TAIL
							   : LITIFUT_WORD_INDIRECT;
	uint32_t call = post_session_call(session, reader->process, made->epoch, kind,
					  made->address, made->callee);
	uint64_t hertz = post_clock_hertz(reader->process);
	uint64_t timed = made->count - made->untimed - item->open;
	bool wanted = !session->options.tid_count;

	for (size_t i = 0; i < session->options.tid_count; i++)
		wanted |= session->options.tids[i] == item->thread;
	thread->sequence += made->count;
	reader->process->events += made->count;
	if (call & POST_RETURN) {
		measures->left_out += made->count;
		return;
	}
	if (!wanted)
		return;
	session->calls[call].count += made->count;
	if (session->calls[call].hidden)
		return;
	reserve(&measures->calls, &measures->call_capacity, session->call_count);
	reserve(&measures->lanes, &measures->lane_capacity, session->lane_count);
	uint64_t *lane = measures->lanes[thread->lane].value;
	struct post_metrics *metrics = &measures->calls[call];
	metrics->value[POST_METRIC_CALLS] += made->count;
	metrics->value[POST_METRIC_OPEN] += item->open;
	/* A tail call ends with the call that led to it, whose return may not be recorded. */
	metrics->value[session->calls[call].returns ? POST_METRIC_CUT : POST_METRIC_APPROX] +=
		made->untimed;
	lane[POST_METRIC_CALLS] += made->count;
	if (!timed)
		return;
	add_timed(metrics, timed, post_measures_scaled(measures, made->sum, hertz),
		  post_measures_scaled(measures, made->self, hertz),
		  post_measures_scaled(measures, ~made->minimum_inverted, hertz),
		  post_measures_scaled(measures, made->maximum, hertz));
	lane[POST_METRIC_SELF] += post_measures_scaled(measures, made->self, hertz);
	/* It is not known which of them were outermost. */
	if (session->calls[call].caller == session->calls[call].callee)
		return;
	reserve(&measures->functions, &measures->function_capacity, session->function_count);
	measures->functions[session->calls[call].callee].value[POST_METRIC_TOTAL] +=
		post_measures_scaled(measures, made->sum, hertz);
}

static void take_tasks(struct post_measures *measures, struct post_process *process)
{
	struct post_session *session = measures->session;
	const uint64_t hertz = post_clock_hertz(process);

	for (size_t i = 0; i < process->trace->task_count; i++) {
		const struct post_task *task = &process->trace->tasks[i];
		struct post_thread *thread = post_session_thread(session, process, task->id);

		thread->sequence += task->calls;
		if (!post_thread_wanted(session, task->id))
			continue;
		reserve(&measures->lanes, &measures->lane_capacity, session->lane_count);
		uint64_t *lane = measures->lanes[thread->lane].value;

		lane[POST_METRIC_CALLS] += task->calls;
		lane[POST_METRIC_TOTAL] += post_measures_scaled(measures, task->ticks, hertz);
		lane[POST_METRIC_SELF] += post_measures_scaled(measures, task->ticks, hertz);
	}
	if (process->trace->task_count && session->options.tid_count)
		post_problem_at(session->problems, process->trace->path, LITIFUT_NO_ADDRESS,
				"calls of functions are counted for all tasks together, so --tid "
				"chooses among the tasks of --per thread only");
}

bool post_measures_possible(const struct post_session *session, bool returns)
{
	bool clock = false;

	for (size_t i = 0; i < session->process_count; i++) {
		const struct post_process *process = session->processes[i];

		if (post_trace_has_tables(process->trace))
			return true;
		clock |= post_clock_runs(process);
		returns &= !(process->returns && post_clock_runs(process));
	}
	/* a library may record returns where its program does not */
	for (size_t i = 0; i < session->module_count && returns; i++) {
		const struct post_image *image = session->modules[i].image;

		returns = !image || image->mode != LITIFUT_MODE_SPANS;
	}
	return clock && !returns;
}

void post_measures_start(struct post_measures *measures, struct post_session *session)
{
	bool some = false;

	*measures = (struct post_measures){.session = session};
	for (size_t i = 0; i < session->process_count; i++) {
		uint64_t hertz = post_clock_hertz(session->processes[i]);
		if (!post_clock_runs(session->processes[i]) &&
		    !post_trace_has_tables(session->processes[i]->trace))
			continue; /* it has no times */
		measures->mixed |= some && hertz != measures->hertz;
		measures->hertz = hertz;
		some = true;
	}
	if (measures->mixed)
		measures->hertz = 1000000000u;
	for (size_t i = 0; i < session->process_count; i++) {
		struct table_reader reader = {measures, session->processes[i]};
		const struct post_trace *trace = session->processes[i]->trace;
		measures->tabled |=
			post_trace_has_tables(trace) || trace->counted_count ||
			(trace->header.mode == LITIFUT_MODE_COUNTS && !trace->chunk_count);
		measures->any_missing |= trace->any_missing;
		post_table_chunks_read(trace, take_item, &reader, session->problems);
		take_tasks(measures, session->processes[i]);
		if (trace->header.mode == LITIFUT_MODE_TABLE)
			session->processes[i]->lost += post_table_calls_read(
				trace, resolve_exit, take_table_call, &reader, session->problems);
	}
	if (measures->left_out)
		post_problem_at(session->problems, NULL, LITIFUT_NO_ADDRESS,
				"%" PRIu64 " calls in tables are left out, as the ELF files with "
				"their call sites are not known",
				measures->left_out);
}

void post_measures_finish(struct post_measures *measures)
{
	const struct post_session *session = measures->session;

	reserve(&measures->functions, &measures->function_capacity, session->function_count);
	reserve(&measures->calls, &measures->call_capacity, session->call_count);
	reserve(&measures->lanes, &measures->lane_capacity, session->lane_count);
	post_self_derive(measures);
	for (size_t i = 0; i < session->call_count; i++) {
		const uint64_t *call = measures->calls[i].value;
		struct post_metrics *function = &measures->functions[session->calls[i].callee];
		static const enum post_metric sums[] = {
			POST_METRIC_CALLS,  POST_METRIC_CUT,       POST_METRIC_OPEN,
			POST_METRIC_APPROX, POST_METRIC_CLOCKLESS, POST_METRIC_SELFLESS};
		if (session->calls[i].hidden)
			continue;
		if (session->calls[i].caller != session->calls[i].callee)
			measures->functions[session->calls[i].caller].value[POST_METRIC_BELOW] +=
				call[POST_METRIC_TOTAL];
		for (size_t s = 0; s < sizeof(sums) / sizeof(*sums); s++)
			function->value[sums[s]] += call[sums[s]];
		if (!call[POST_METRIC_TIMED])
			continue;
		add_timed(function, call[POST_METRIC_TIMED], 0, call[POST_METRIC_SELF],
			  call[POST_METRIC_MIN], call[POST_METRIC_MAX]);
		function->value[POST_METRIC_SUM] += call[POST_METRIC_SUM];
	}
}

void post_measures_release(struct post_measures *measures)
{
	free(measures->calls);
	free(measures->functions);
	free(measures->lanes);
	free(measures->beside);
	free(measures->unsure);
	*measures = (struct post_measures){0};
}

enum post_timing post_measures_timing(const struct post_measures *measures)
{
	const struct post_session *session = measures->session;
	bool bounds = false;

	for (size_t i = 0; i < session->process_count; i++) {
		const struct post_process *process = session->processes[i];
		if (post_trace_has_tables(process->trace) ||
		    (process->returns && post_clock_runs(process)))
			return POST_TIMING_MEASURED;
		bounds |= post_clock_runs(process);
	}
	return bounds ? POST_TIMING_BOUNDS : POST_TIMING_NONE;
}

const char *post_measures_text(const struct post_measures *measures, uint64_t ticks, char *text,
			       size_t size)
{
	static const char *const units[] = {"s", "ms", "us", "ns"};
	double value = measures->hertz ? (double)ticks / (double)measures->hertz : 0;
	unsigned unit = 0;

	if (!measures->hertz) {
		snprintf(text, size, "%" PRIu64, ticks);
		return text;
	}
	for (; unit < 3 && value < 1; unit++)
		value *= 1000;
	snprintf(text, size, unit == 3 ? "%.0f %s" : "%.3f %s", value, units[unit]);
	return text;
}

const char *post_measures_total_text(const struct post_measures *measures,
				     const struct post_metrics *function, char *text, size_t size)
{
	if (!post_metrics_at_least(function))
		return post_measures_text(measures, function->value[POST_METRIC_TOTAL], text, size);
	*text = '>';
	post_measures_text(measures, post_metrics_bound(function), text + 1, size - 1);
	return text;
}

const char *post_metrics_partly_text(const struct post_metrics *metrics, char *text, size_t size)
{
	if (post_metrics_partly(metrics))
		snprintf(text, size, " (%" PRIu64 " timed)", metrics->value[POST_METRIC_TIMED]);
	else
		*text = '\0';
	return text;
}

uint64_t post_measures_ns(const struct post_measures *measures, uint64_t ticks)
{
	if (!measures->hertz || measures->hertz == 1000000000u)
		return ticks;
	return (uint64_t)((double)ticks * 1e9 / (double)measures->hertz);
}
