/* Tables of times. Where returns were not recorded only bounds are known, and only they are
 * shown. */
#include "postproc/formats/times.h"
#include "postproc/formats/losses.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "postproc/measure/edges.h"
#include "postproc/measure/measure.h"
#include "postproc/model/clock.h"

struct row {
	struct post_metrics metrics;
	uint32_t function; /* of an edge the callee; POST_NONE: a thread */
	uint32_t caller;   /* of an edge; of a thread its lane */
	bool at_least;     /* the total is a lower bound: its own calls were not recorded */
};

struct table {
	struct post_output *output;
	struct row *rows;
	size_t count;
	uint64_t self; /* of all rows */
	enum post_timing timing;
};

const char *const post_times_columns[] = {"self", "total", "avg",  "min",
					  "max",  "calls", "name", NULL};

static void add_functions(struct table *table)
{
	const struct post_measures *measures = table->output->measures;
	const struct post_session *session = measures->session;

	table->rows = post_allocate(session->function_count, sizeof(*table->rows));
	for (uint32_t i = 0; i < session->function_count; i++) {
		struct row row = {.metrics = measures->functions[i], .function = i};
		uint64_t *value = row.metrics.value;
		row.at_least = post_metrics_at_least(&row.metrics);
		if (row.at_least)
			value[POST_METRIC_TOTAL] = post_metrics_bound(&row.metrics);
		if (value[POST_METRIC_CALLS] || value[POST_METRIC_LEAST] || row.at_least)
			table->rows[table->count++] = row;
	}
}

static void add_edges(struct table *table)
{
	const struct post_measures *measures = table->output->measures;
	const struct post_session *session = measures->session;
	struct post_table index = {0};

	table->rows = post_allocate(session->call_count, sizeof(*table->rows));
	for (size_t i = 0; i < session->call_count; i++) {
		const struct post_call *call = &session->calls[i];
		const uint64_t *value = measures->calls[i].value;
		struct post_key key = {{call->caller, call->callee}};
		if (call->hidden || !value[POST_METRIC_CALLS])
			continue;
		uint32_t number = post_table_find(&index, key);
		if (number == POST_NONE) {
			number = (uint32_t)table->count++;
			table->rows[number] =
				(struct row){.caller = call->caller, .function = call->callee};
			post_table_put(&index, key, number);
		}
		post_metrics_add(&table->rows[number].metrics, &measures->calls[i]);
	}
	post_table_release(&index);
}

static void add_threads(struct table *table)
{
	const struct post_measures *measures = table->output->measures;
	const struct post_session *session = measures->session;

	table->rows = post_allocate(session->lane_count, sizeof(*table->rows));
	for (uint32_t i = 0; i < session->lane_count; i++) {
		const uint64_t *value = measures->lanes[i].value;

		if (value[POST_METRIC_CALLS] || value[POST_METRIC_TOTAL]) /* an idle task */
			table->rows[table->count++] = (struct row){
				.metrics = measures->lanes[i], .function = POST_NONE, .caller = i};
	}
}

/* The cost that a column stands for; UINT64_MAX is not a cost but the name. */
static uint64_t cost(const struct row *row, const char *column)
{
	const uint64_t *value = row->metrics.value;

	return !strcmp(column, "total")   ? value[POST_METRIC_TOTAL]
	       : !strcmp(column, "avg")   ? post_metrics_average(&row->metrics)
	       : !strcmp(column, "min")   ? value[POST_METRIC_MIN]
	       : !strcmp(column, "max")   ? value[POST_METRIC_MAX]
	       : !strcmp(column, "calls") ? value[POST_METRIC_CALLS]
	       : !strcmp(column, "self")  ? value[POST_METRIC_SELF]
	       : !strcmp(column, "most")  ? value[POST_METRIC_MOST]
					  : 0;
}

static int compare(const void *left, const void *right, void *context)
{
	const struct table *table = context;
	const struct row *a = left, *b = right;
	const char *sort = table->output->options.sort;

	if (!sort)
		sort = table->timing == POST_TIMING_BOUNDS ? "most" : "self";
	if (cost(a, sort) != cost(b, sort))
		return cost(a, sort) > cost(b, sort) ? -1 : 1;
	/* main() before the start-up code around it: both have no self time that is known */
	if (strcmp(sort, "name") != 0 && cost(a, "total") != cost(b, "total"))
		return cost(a, "total") > cost(b, "total") ? -1 : 1;
	if (a->function == POST_NONE)
		return a->caller < b->caller ? -1 : a->caller > b->caller;
	const struct post_session *session = table->output->session;
	int order = post_function_compare(session, a->function, b->function);
	return order || a->caller == b->caller
		       ? order
		       : post_function_compare(session, a->caller, b->caller);
}

static void write_name(const struct table *table, const struct row *row)
{
	const struct post_output *output = table->output;
	const struct post_session *session = output->session;
	char partly[POST_PARTLY_BYTES];

	if (row->function == POST_NONE) {
		const struct post_thread *thread = session->lanes[row->caller];
		const struct litifut_trace_header *header =
			&session->processes[thread->process]->trace->header;
		char text[64];

		fprintf(output->file, "  process %u (%s), %s\n", header->pid, header->program,
			post_thread_text(thread, text, sizeof(text)));
		return;
	}
	fputs("  ", output->file);
	if (output->options.rows == POST_ROWS_EDGES)
		fprintf(output->file, "%s -> ", session->functions[row->caller].name);
	fprintf(output->file, "%s [%s]%s\n", session->functions[row->function].name,
		session->modules[session->functions[row->function].module].name,
		table->timing == POST_TIMING_MEASURED
			? post_metrics_partly_text(&row->metrics, partly, sizeof(partly))
			: "");
}

static void write_time(const struct table *table, uint64_t ticks, bool known)
{
	char text[64];

	fprintf(table->output->file, " %12s",
		known ? post_measures_text(table->output->measures, ticks, text, sizeof(text))
		      : "-");
}

/* Has the process of a lane a clock, or sums of times? */
static bool has_times(const struct table *table, uint32_t lane)
{
	const struct post_session *session = table->output->session;
	const struct post_process *process = session->processes[session->lanes[lane]->process];

	return post_clock_runs(process) || post_trace_has_tables(process->trace);
}

static void write_measured(const struct table *table, const struct row *row)
{
	const uint64_t *value = row->metrics.value;
	bool timed = value[POST_METRIC_TIMED];
	bool thread = row->function == POST_NONE;
	bool known = thread ? has_times(table, row->caller) : timed;
	char text[64], bound[72];

	if (row->at_least) {
		snprintf(bound, sizeof(bound), ">%s",
			 post_measures_text(table->output->measures, value[POST_METRIC_TOTAL], text,
					    sizeof(text)));
		fprintf(table->output->file, " %12s", bound);
	} else {
		write_time(table, value[POST_METRIC_TOTAL], known);
	}
	const bool selfless = value[POST_METRIC_SELFLESS];
	write_time(table, value[POST_METRIC_SELF], known && !selfless);
	if (selfless)
		fputs("      -", table->output->file);
	else
		fprintf(table->output->file, " %5.1f%%",
			table->self ? 100.0 * (double)value[POST_METRIC_SELF] / (double)table->self
				    : 0);
	fprintf(table->output->file, " %12" PRIu64, value[POST_METRIC_CALLS]);
	if (!thread) {
		write_time(table, post_metrics_average(&row->metrics), timed);
		write_time(table, value[POST_METRIC_MIN], timed);
		write_time(table, value[POST_METRIC_MAX], timed);
	}
}

/* Are the rows tasks that the device has timed? Then they are not sums of calls. */
static bool are_tasks(const struct table *table)
{
	const struct post_session *session = table->output->session;

	for (size_t i = 0; i < table->count; i++)
		if (table->rows[i].function != POST_NONE ||
		    !session->lanes[table->rows[i].caller]->task)
			return false;
	return table->count != 0;
}

/* What the figures do not say by themselves. */
static void write_notes(const struct table *table)
{
	const struct post_session *session = table->output->session;
	uint64_t cut = 0, open = 0, approximate = 0, clockless = 0;
	bool unknown = false, at_least = false, partly = false, selfless = false;
	struct post_text taken = {0};
	FILE *file = table->output->file;

	for (size_t i = 0; i < table->count; i++) {
		at_least |= table->rows[i].at_least;
		selfless |= table->rows[i].metrics.value[POST_METRIC_SELFLESS] != 0;
		partly |= table->rows[i].function != POST_NONE &&
			  post_metrics_partly(&table->rows[i].metrics);
		cut += table->rows[i].metrics.value[POST_METRIC_CUT];
		open += table->rows[i].metrics.value[POST_METRIC_OPEN];
		approximate += table->rows[i].metrics.value[POST_METRIC_APPROX];
		clockless += table->rows[i].metrics.value[POST_METRIC_CLOCKLESS];
	}
	for (size_t i = 1; i < session->module_count; i++)
		unknown |= session->modules[i].returns_unknown;
	if (unknown)
		fputs("# Returns in modules whose ELF file was not given are counted as calls of "
		      "?, and what was called there has no time.\n",
		      file);
	if (table->timing == POST_TIMING_BOUNDS) {
		fputs("# Returns were not recorded: the time of a function is at least that up to "
		      "the last call inside of it, and at most that up to the next call that shows "
		      "that it has returned.\n",
		      file);
		return;
	}
	if (are_tasks(table))
		fputs("# Time of a task is that in which it ran, with the interrupts and the "
		      "tracer's work in it. share: of all of it.\n",
		      file);
	else
		fputs("# Elapsed time, with what waiting and other threads add. share: of all self "
		      "time.\n",
		      file);
	if (!are_tasks(table)) {
		post_taken_text(session, &taken);
		fprintf(file, "# %s.\n", taken.bytes);
		free(taken.bytes);
	}
	if (at_least)
		fputs("# A total with > is at least so much: what has called the function was not "
		      "recorded (main), or how long that took.\n",
		      file);
	if (partly)
		fputs("# (N timed): the times of the row are those of N of its calls; the others "
		      "have no return that is known.\n",
		      file);
	if (selfless)
		fputs("# A self time that is - is not known, and not in the share of the others: "
		      "times of calls that the function makes, or of calls of it, are missing.\n",
		      file);
	if (!table->output->measures->hertz)
		fprintf(file,
			"# How long a tick of the clock is, is not known: times are ticks%s.\n",
			session->inputs.firmware_count
				? " (LITIFUT_CLOCK=NAME:HERTZ at the link says it)"
				: "");
	if (table->output->measures->tabled && !are_tasks(table))
		fputs("# total of functions that call one another in a cycle counts the inner "
		      "calls again.\n",
		      file);
	if (!unknown && (cut || open || approximate || clockless)) {
		fprintf(file,
			"# Without a time: %" PRIu64 " calls cut (longjmp, exceptions), %" PRIu64
			" still open at the end, %" PRIu64 " whose return is not recorded",
			cut, open, approximate);
		if (clockless)
			fprintf(file, ", %" PRIu64 " in processes without a clock", clockless);
		fputs(".\n", file);
		if (approximate)
			fputs("# The own time of those whose return is not recorded is in the self "
			      "time of the function around them.\n",
			      file);
	}
}

/* Head and rows, with `module` given of the functions there. */
static void write_table(const struct table *table, uint32_t module)
{
	struct post_output *output = table->output;
	const struct post_session *session = output->session;
	const bool bounds = table->timing == POST_TIMING_BOUNDS;
	const bool thread = output->options.rows == POST_ROWS_THREADS;
	const char *bold = output->options.color ? "\033[1m" : "";
	const char *plain = output->options.color ? "\033[0m" : "";
	static const char *const names[] = {"function [module]", "caller -> callee [module]",
					    "thread"};
	uint64_t shown = 0;

	fputs(bold, output->file);
	if (bounds)
		fprintf(output->file, " %12s %12s %12s", "at least", "at most", "calls");
	else
		fprintf(output->file, " %12s %12s %6s %12s", "total", "self", "share", "calls");
	if (!bounds && !thread)
		fprintf(output->file, " %12s %12s %12s", "avg", "min", "max");
	fprintf(output->file, "  %s%s\n", names[output->options.rows], plain);
	for (size_t i = 0; i < table->count; i++) {
		const struct row *row = &table->rows[i];
		const uint64_t *value = row->metrics.value;
		if (module != POST_NONE && session->functions[row->function].module != module)
			continue;
		if (output->options.top && shown++ == output->options.top)
			break;
		if (bounds) {
			write_time(table, value[POST_METRIC_LEAST], !thread);
			write_time(table, value[POST_METRIC_MOST],
				   value[POST_METRIC_CALLS] && !thread);
			fprintf(output->file, " %12" PRIu64, value[POST_METRIC_CALLS]);
		} else {
			write_measured(table, row);
		}
		write_name(table, row);
	}
}

static void write_modules(const struct table *table)
{
	const struct post_session *session = table->output->session;
	bool first = true;

	for (uint32_t module = 0; module < session->module_count; module++) {
		bool used = false;
		for (size_t i = 0; i < table->count && !used; i++)
			used = session->functions[table->rows[i].function].module == module;
		if (!used)
			continue;
		fprintf(table->output->file, "%s%s\n", first ? "" : "\n",
			session->modules[module].name);
		write_table(table, module);
		first = false;
	}
}

void post_times_write(struct post_output *output)
{
	struct table table = {.output = output, .timing = post_measures_timing(output->measures)};
	unsigned rows = output->options.rows;

	rows == POST_ROWS_EDGES     ? add_edges(&table)
	: rows == POST_ROWS_THREADS ? add_threads(&table)
				    : add_functions(&table);
	for (size_t i = 0; i < table.count; i++)
		table.self += table.rows[i].metrics.value[POST_METRIC_SELF];
	qsort_r(table.rows, table.count, sizeof(*table.rows), compare, &table);
	write_notes(&table);
	if (output->options.by_module && rows != POST_ROWS_THREADS)
		write_modules(&table);
	else
		write_table(&table, POST_NONE);
	free(table.rows);
}
