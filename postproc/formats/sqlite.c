/* sqlite: everything as tables of a database, for questions that no format here answers.
 * docs/sqlite.md describes the tables and has queries. */
#include <errno.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/hex.h"
#include "postproc/formats/format.h"
#include "postproc/formats/text.h"
#include "postproc/sources/arguments.h"
#include "postproc/measure/measure.h"
#include "postproc/model/clock.h"
#include "postproc/model/lines.h"
#include "postproc/timeline/nesting.h"

static const char schema[] =
	"PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; PRAGMA user_version=1;"
	"CREATE TABLE processes(id INTEGER PRIMARY KEY, pid INTEGER, parent_pid INTEGER,"
	" program TEXT, stopped INTEGER, clock_hertz INTEGER);"
	"CREATE TABLE threads(id INTEGER PRIMARY KEY, process INTEGER REFERENCES processes,"
	" tid INTEGER, calls INTEGER, lost INTEGER, name TEXT, ticks INTEGER);"
	"CREATE TABLE modules(id INTEGER PRIMARY KEY, name TEXT, build_id TEXT, traced INTEGER,"
	" file TEXT);"
	"CREATE TABLE functions(id INTEGER PRIMARY KEY, module INTEGER REFERENCES modules,"
	" name TEXT, symbol TEXT, address INTEGER, source TEXT);"
	"CREATE TABLE sites(id INTEGER PRIMARY KEY, module INTEGER REFERENCES modules,"
	" address INTEGER, caller INTEGER REFERENCES functions, caller_offset INTEGER, source "
	"TEXT);"
	"CREATE TABLE calls(id INTEGER PRIMARY KEY, site INTEGER REFERENCES sites,"
	" callee INTEGER REFERENCES functions, kind TEXT, plt TEXT, calls INTEGER, timed INTEGER,"
	" total INTEGER, self INTEGER, min INTEGER, max INTEGER, cut INTEGER, open INTEGER,"
	" untimed INTEGER);"
	"CREATE TABLE spans(id INTEGER PRIMARY KEY, thread INTEGER REFERENCES threads,"
	" parent INTEGER REFERENCES spans, function INTEGER REFERENCES functions,"
	" call INTEGER REFERENCES calls, depth INTEGER, start INTEGER, duration INTEGER,"
	" self INTEGER, end TEXT);"
	"CREATE TABLE arguments(span INTEGER REFERENCES spans, number INTEGER, value INTEGER,"
	" text TEXT, name TEXT);"
	"BEGIN;";

static const char after[] =
	"CREATE INDEX functions_name ON functions(name);"
	"CREATE INDEX sites_caller ON sites(caller);"
	"CREATE INDEX calls_site ON calls(site);"
	"CREATE INDEX calls_callee ON calls(callee);"
	"CREATE INDEX spans_function ON spans(function, duration);"
	"CREATE INDEX spans_parent ON spans(parent);"
	"CREATE INDEX spans_time ON spans(thread, start);"
	"CREATE INDEX arguments_span ON arguments(span);"
	"CREATE VIEW edges AS SELECT caller.id AS caller_id, caller.name AS caller,"
	" callee.id AS callee_id, callee.name AS callee, sum(c.calls) AS calls,"
	" count(DISTINCT c.site) AS sites, sum(c.timed) AS timed, sum(c.total) AS total,"
	" sum(c.self) AS self, min(CASE WHEN c.timed THEN c.min END) AS min, max(c.max) AS max,"
	" sum(c.total) * 1.0 / nullif(sum(c.timed), 0) AS avg"
	" FROM calls c JOIN sites s ON s.id = c.site JOIN functions caller ON caller.id = s.caller"
	" JOIN functions callee ON callee.id = c.callee"
	" GROUP BY caller.id, caller.name, callee.id, callee.name;"
	"CREATE VIEW report AS SELECT f.id, f.name, m.name AS module, sum(c.calls) AS calls,"
	" sum(c.timed) AS timed, sum(c.self) AS self,"
	" sum(CASE WHEN s.caller <> c.callee THEN c.total END) AS total,"
	" min(CASE WHEN c.timed THEN c.min END) AS min, max(c.max) AS max,"
	" sum(c.total) * 1.0 / nullif(sum(c.timed), 0) AS avg"
	" FROM calls c JOIN sites s ON s.id = c.site JOIN functions f ON f.id = c.callee"
	" JOIN modules m ON m.id = f.module GROUP BY f.id, f.name, m.name;"
	"COMMIT;";

struct state {
	sqlite3 *database;
	sqlite3_stmt *span;
	sqlite3_stmt *argument;
	char path[4096];
	int64_t next_span;
	uint64_t origin;
	bool has_origin;
};

static void check(struct post_output *output, int status)
{
	struct state *state = output->state;

	if (status == SQLITE_OK || status == SQLITE_DONE || status == SQLITE_ROW)
		return;
	post_problem_at(output->session->problems, state->path, LITIFUT_NO_ADDRESS, "%s",
			state->database ? sqlite3_errmsg(state->database) : "out of memory");
	sqlite3_close(state->database);
	state->database = NULL;
}

static void execute(struct post_output *output, const char *text)
{
	struct state *state = output->state;

	if (state->database)
		check(output, sqlite3_exec(state->database, text, NULL, NULL, NULL));
}

static sqlite3_stmt *prepare(struct post_output *output, const char *text)
{
	struct state *state = output->state;
	sqlite3_stmt *statement = NULL;

	if (state->database)
		check(output, sqlite3_prepare_v2(state->database, text, -1, &statement, NULL));
	return statement;
}

static void insert(struct post_output *output, sqlite3_stmt *statement)
{
	if (!statement)
		return;
	int status = sqlite3_step(statement);
	sqlite3_reset(statement);
	check(output, status);
}

static void number(sqlite3_stmt *statement, int column, uint64_t value)
{
	sqlite3_bind_int64(statement, column, value > INT64_MAX ? INT64_MAX : (int64_t)value);
}

/* NULL becomes NULL. The text must live until the row is inserted. */
static void text(sqlite3_stmt *statement, int column, const char *value)
{
	sqlite3_bind_text(statement, column, value, -1, SQLITE_STATIC);
}

static void start(struct post_output *output)
{
	struct state *state = post_allocate(1, sizeof(*state));
	const char *folder = getenv("TMPDIR");

	output->state = state;
	state->next_span = 1;
	snprintf(state->path, sizeof(state->path), "%s/litifut-post.XXXXXX",
		 folder && *folder ? folder : "/var/tmp");
	int file = mkstemp(state->path);
	if (file < 0) {
		post_problem_at(output->session->problems, state->path, LITIFUT_NO_ADDRESS, "%s",
				strerror(errno));
		return;
	}
	close(file);
	check(output, sqlite3_open(state->path, &state->database));
	execute(output, schema);
	state->span = prepare(output, "INSERT INTO spans VALUES(?,?,?,?,?,?,?,?,?,?)");
	state->argument = prepare(output, "INSERT INTO arguments VALUES(?,?,?,?,?)");
}

static uint64_t nanoseconds(const struct post_process *process, uint64_t ticks)
{
	return post_clock_runs(process) ? post_clock_ns(process, ticks) : 0;
}

static const char *end_of(unsigned flags)
{
	return flags & POST_EVENT_CUT       ? "cut"
	       : flags & POST_EVENT_OPEN    ? "open"
	       : flags & POST_EVENT_GUESSED ? "guessed"
	       : flags & POST_EVENT_APPROX  ? "approximate"
					    : "returned";
}

/* A row for each; the return value has no number. */
static void add_arguments(struct post_output *output, const struct post_timeline_event *event,
			  uint64_t span)
{
	struct state *state = output->state;
	struct post_argument_place place = {0};
	struct post_argument argument;
	char name[16];

	while (event->arguments && state->argument && state->database &&
	       post_argument_next(event->arguments, &place, &argument)) {
		sqlite3_clear_bindings(state->argument);
		number(state->argument, 1, span);
		if (argument.number != LITIFUT_ARGUMENT_RETURN)
			number(state->argument, 2, argument.number);
		if (argument.type == LITIFUT_ARGUMENT_STRING)
			sqlite3_bind_text(state->argument, 4, argument.text,
					  (int)argument.text_bytes, SQLITE_STATIC);
		else if (argument.type == LITIFUT_ARGUMENT_SIGNED ||
			 argument.type == LITIFUT_ARGUMENT_PLAIN)
			sqlite3_bind_int64(state->argument, 3, (int32_t)argument.value);
		else
			number(state->argument, 3, argument.value);
		text(state->argument, 5,
		     post_argument_name(output->session, event, &argument, name));
		insert(output, state->argument);
	}
}

static void event(void *context, const struct post_timeline_event *event)
{
	struct post_output *output = context;
	struct state *state = output->state;
	struct post_frame *frame;

	if (event->kind > POST_EVENT_LEAVE)
		return;
	frame = post_nesting_frame(output->session, event);
	if (event->kind == POST_EVENT_ENTER) {
		frame->number = (uint64_t)state->next_span++;
		add_arguments(output, event, frame->number);
		return;
	}
	if (!state->span || !state->database)
		return;
	const struct post_process *process = post_event_process(output, event);
	uint64_t start = nanoseconds(process, frame->time + frame->taken);
	uint64_t begin = nanoseconds(process, frame->time), end = nanoseconds(process, event->time);
	if (!state->has_origin) /* the earliest process is the first of the session */
		state->origin = output->session->processes[0]->trace->header.start_monotonic_ns;
	state->has_origin = true;
	sqlite3_clear_bindings(state->span);
	number(state->span, 1, frame->number);
	number(state->span, 2, event->lane);
	if (event->depth)
		number(state->span, 3, frame[-1].number);
	number(state->span, 4, event->callee);
	if (event->site != POST_NONE)
		number(state->span, 5, event->site);
	number(state->span, 6, event->depth);
	if (post_clock_runs(process))
		number(state->span, 7, start > state->origin ? start - state->origin : 0);
	bool known = !(event->flags &
		       (POST_EVENT_CUT | POST_EVENT_OPEN | POST_EVENT_GUESSED | POST_EVENT_APPROX));
	if (known) {
		number(state->span, 8, end - begin);
		number(state->span, 9, nanoseconds(process, frame->time + event->value) - begin);
	}
	text(state->span, 10, end_of(event->flags));
	insert(output, state->span);
	add_arguments(output, event, frame->number);
}

static void add_processes(struct post_output *output)
{
	const struct post_session *session = output->session;
	sqlite3_stmt *process = prepare(output, "INSERT INTO processes VALUES(?,?,?,?,?,?)");
	sqlite3_stmt *thread = prepare(output, "INSERT INTO threads VALUES(?,?,?,?,?,?,?)");

	for (size_t i = 0; process && i < session->process_count; i++) {
		const struct litifut_trace_header *header = &session->processes[i]->trace->header;
		number(process, 1, i);
		number(process, 2, header->pid);
		number(process, 3, header->parent_pid);
		text(process, 4, header->program);
		number(process, 5, header->state == LITIFUT_TRACE_STOPPED);
		number(process, 6, post_clock_hertz(session->processes[i]));
		insert(output, process);
	}
	for (size_t i = 0; thread && i < session->lane_count; i++) {
		const struct post_thread *lane = session->lanes[i];
		number(thread, 1, i);
		number(thread, 2, lane->process);
		number(thread, 3, lane->id);
		number(thread, 4, lane->sequence);
		number(thread, 5, lane->lost);
		text(thread, 6, lane->task ? lane->task->name : NULL);
		if (lane->task)
			number(thread, 7, lane->task->ticks);
		insert(output, thread);
	}
	sqlite3_finalize(process);
	sqlite3_finalize(thread);
}

static const char *source(const struct post_session *session, uint32_t module, uint32_t address,
			  char *line, size_t size)
{
	return session->options.lines && post_lines_text(session, module, address, line, size)
		       ? line
		       : NULL;
}

static void add_functions(struct post_output *output)
{
	const struct post_session *session = output->session;
	sqlite3_stmt *module = prepare(output, "INSERT INTO modules VALUES(?,?,?,?,?)");
	sqlite3_stmt *function = prepare(output, "INSERT INTO functions VALUES(?,?,?,?,?,?)");

	for (size_t i = 0; module && i < session->module_count; i++) {
		const struct post_module *about = &session->modules[i];
		char hex[POST_BUILD_ID_BYTES * 2 + 1];
		number(module, 1, i);
		text(module, 2, about->name);
		text(module, 3, litifut_hex(about->build_id, about->build_id_bytes, hex));
		number(module, 4, about->traced);
		text(module, 5, about->image ? about->image->path : NULL);
		insert(output, module);
	}
	for (size_t i = 0; function && i < session->function_count; i++) {
		const struct post_function *about = &session->functions[i];
		char line[1024];
		number(function, 1, i);
		number(function, 2, about->module);
		text(function, 3, about->name);
		text(function, 4, about->symbol);
		number(function, 5, about->address);
		text(function, 6,
		     about->symbol
			     ? source(session, about->module, about->address, line, sizeof(line))
			     : NULL);
		insert(output, function);
	}
	sqlite3_finalize(module);
	sqlite3_finalize(function);
}

static void add_calls(struct post_output *output)
{
	static const char *const through[] = {"", "plt", "plt", "plt?"};
	static const enum post_metric columns[] = {
		POST_METRIC_TIMED, POST_METRIC_TOTAL, POST_METRIC_SELF, POST_METRIC_MIN,
		POST_METRIC_MAX,   POST_METRIC_CUT,   POST_METRIC_OPEN, POST_METRIC_APPROX};
	const struct post_session *session = output->session;
	sqlite3_stmt *site = prepare(output, "INSERT OR IGNORE INTO sites VALUES(?,?,?,?,?,?)");
	sqlite3_stmt *call =
		prepare(output, "INSERT INTO calls VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?)");

	for (size_t i = 0; site && call && i < session->call_count; i++) {
		const struct post_call *about = &session->calls[i];
		char line[1024];
		if (about->hidden || !about->count)
			continue;
		number(site, 1, about->site);
		number(site, 2, about->site_module);
		number(site, 3, about->site_address);
		number(site, 4, about->caller);
		number(site, 5, about->caller_offset);
		text(site, 6,
		     source(session, about->site_module, about->site_address, line, sizeof(line)));
		insert(output, site);
		number(call, 1, i);
		number(call, 2, about->site);
		number(call, 3, about->callee);
		text(call, 4, about->tail ? "tail" : "call");
		text(call, 5, through[about->plt]);
		number(call, 6, about->count);
		for (int c = 0; c < (int)(sizeof(columns) / sizeof(*columns)); c++) {
			uint64_t value =
				output->measures ? output->measures->calls[i].value[columns[c]] : 0;
			bool time = output->measures && c >= 1 && c <= 4;
			if (columns[c] == POST_METRIC_SELF && output->measures &&
			    output->measures->calls[i].value[POST_METRIC_SELFLESS]) {
				sqlite3_bind_null(call, 7 + c);
				continue;
			}
			number(call, 7 + c,
			       time ? post_measures_ns(output->measures, value) : value);
		}
		insert(output, call);
	}
	sqlite3_finalize(site);
	sqlite3_finalize(call);
}

static void copy_out(struct post_output *output, const char *path)
{
	FILE *file = fopen(path, "re");
	char piece[65536];
	size_t got;

	while (file && (got = fread(piece, 1, sizeof(piece), file)) > 0)
		fwrite(piece, 1, got, output->file);
	if (file)
		fclose(file);
}

static void finish(struct post_output *output)
{
	struct state *state = output->state;

	add_processes(output);
	add_functions(output);
	add_calls(output);
	sqlite3_finalize(state->span);
	sqlite3_finalize(state->argument);
	execute(output, after);
	if (state->database) {
		sqlite3_close(state->database);
		copy_out(output, state->path);
	}
	unlink(state->path);
	free(state);
}

const struct post_format post_format_sqlite = {
	.name = "sqlite",
	.summary = "a database of functions, call sites, calls, spans and threads",
	.uses = POST_USES_LINES,
	.binary = true,
	.measured = true,
	.tabled = true,
	.nested = true,
	.start = start,
	.event = event,
	.finish = finish,
};
