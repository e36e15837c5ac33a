/* Times from spans and from a table of the same run: both are what was simulated. More than 500
 * lines, because all tests use the one simulation. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/bytes.h"
#include "tests/unit/post_fixture.h"
#include "tests/unit/trace_builder.h"

#define CHUNK_BYTES 65536u

enum { MAIN = 0x20000, WORK = 0x20060, COUNT = 0x200c0, FINISH = 0x20160 };

/* The call sites of the fixture's program that the run goes through, by their numbers. */
enum {
	MAIN_WORK = 0,
	WORK_LEAF = 4,
	WORK_LEAF_2,
	WORK_COUNT,
	WORK_FINISH,
	COUNT_COUNT,
	COUNT_LEAF,
	SITES
};

static const struct {
	uint32_t function;
	unsigned line;
} places[SITES] = {
	[MAIN_WORK] = {MAIN, 1},   [WORK_LEAF] = {WORK, 1},   [WORK_LEAF_2] = {WORK, 2},
	[WORK_COUNT] = {WORK, 3},  [WORK_FINISH] = {WORK, 4}, [COUNT_COUNT] = {COUNT, 1},
	[COUNT_LEAF] = {COUNT, 2},
};

struct frame {
	unsigned site;
	bool tail;
	uint64_t time, child;
};

struct truth {
	uint64_t count, minimum, maximum, sum, self;
};

/* A run: its clock, its stack, what becomes of its calls, and its trace. */
struct run {
	const struct fixture *fixture;
	struct trace_builder builder;
	uint64_t clock;
	uint32_t random;
	struct frame stack[64];
	unsigned depth, cut;
	bool clockless;
	struct truth truth[SITES];
};

static void pass(struct run *run)
{
	run->random = run->random * 1103515245u + 12345;
	run->clock += 1 + (run->random >> 16) % 5000;
}

static void enter(struct run *run, unsigned site)
{
	bool thumb = run->fixture->target->thumb;
	uint32_t length = run->fixture->target->machine == BUILDER_MACHINE_MIPS ? 8 : 4;
	uint32_t at = places[site].function + 16 * places[site].line;

	pass(run);
	if (site == WORK_FINISH)
		trace_builder_control(
			&run->builder, LITIFUT_WORD_TAIL, 3 - run->clockless,
			(uint32_t[]){at + 4 + thumb, FINISH + thumb, (uint32_t)run->clock});
	else
		trace_builder_control(&run->builder, LITIFUT_WORD_ENTER, 3 - run->clockless,
				      (uint32_t[]){at + length + thumb, 0x1000 - run->depth,
						   (uint32_t)run->clock});
	run->stack[run->depth++] = (struct frame){site, site == WORK_FINISH, run->clock, 0};
}

static void end_frame(struct run *run, bool counts)
{
	struct frame *frame = &run->stack[--run->depth];
	struct truth *truth = &run->truth[frame->site];
	uint64_t time = run->clock - frame->time;

	if (run->depth)
		frame[-1].child += counts ? time : frame->child; /* the rest stays with it */
	if (!counts) {
		run->cut++;
		return;
	}
	if (!truth->count || time < truth->minimum)
		truth->minimum = time;
	if (time > truth->maximum)
		truth->maximum = time;
	truth->count++;
	truth->sum += time;
	truth->self += time - frame->child;
}

/* Returns from the uppermost call, and from what it was called by in its place; or, past
 * `over` calls that never return, from one below. */
static void leave_over(struct run *run, unsigned over)
{
	pass(run);
	while (over--)
		end_frame(run, false);
	while (run->stack[run->depth - 1].tail)
		end_frame(run, true);
	unsigned site = run->stack[run->depth - 1].site;
	uint32_t exit = places[site].function + 16 * places[site].line + 2;
	if (run->random & 0x10000 || run->clockless)
		trace_builder_control(
			&run->builder, LITIFUT_WORD_EXIT, 3 - run->clockless,
			(uint32_t[]){exit, 0x1000 - (run->depth - 1), (uint32_t)run->clock});
	else {
		trace_builder_control(
			&run->builder, LITIFUT_WORD_TIME, 2,
			(uint32_t[]){(uint32_t)run->clock, (uint32_t)(run->clock >> 32)});
		trace_builder_word(&run->builder, exit);
		trace_builder_word(&run->builder, (uint32_t)run->clock);
	}
	end_frame(run, true);
}

static void leave(struct run *run)
{
	leave_over(run, 0);
}

static void count(struct run *run, unsigned n)
{
	if (n) {
		enter(run, COUNT_COUNT);
		count(run, n - 1);
		leave(run);
	}
	for (unsigned i = 0; i < 2; i++) {
		enter(run, COUNT_LEAF);
		leave(run);
	}
}

static void work(struct run *run, unsigned n)
{
	enter(run, MAIN_WORK);
	enter(run, WORK_LEAF);
	leave(run);
	enter(run, WORK_COUNT);
	count(run, n);
	leave(run);
	if (n & 1)
		enter(run, WORK_FINISH); /* a tail call: work() returns when it does */
	leave(run);
}

/* Two calls of count() and what they have called never return: longjmp. */
static void jump(struct run *run)
{
	enter(run, MAIN_WORK);
	enter(run, WORK_COUNT);
	enter(run, COUNT_COUNT);
	enter(run, COUNT_LEAF);
	leave_over(run, 3);
}

static void write_spans(struct run *run, const struct fixture *fixture, bool jumps)
{
	*run = (struct run){.fixture = fixture, .random = 1, .clock = 0xffff0000u};
	fixture_begin_trace(fixture, &run->builder, CHUNK_BYTES);
	trace_builder_chunk(&run->builder, 300, LITIFUT_CHUNK_TIMED, run->clock);
	for (unsigned n = 0; n < 6; n++)
		work(run, n);
	if (jumps)
		jump(run);
}

/* The same run without a clock, as another process beside the trace that is there. */
static void add_clockless(const struct fixture *fixture)
{
	struct run run = {.fixture = fixture, .random = 1, .clockless = true};
	char path[128];

	fixture_begin_trace(fixture, &run.builder, CHUNK_BYTES);
	trace_builder_header32(&run.builder, offsetof(struct litifut_trace_header, clock),
			       LITIFUT_CLOCK_NONE);
	trace_builder_header32(&run.builder, offsetof(struct litifut_trace_header, pid), 301);
	trace_builder_header32(&run.builder, offsetof(struct litifut_trace_header, mode),
			       LITIFUT_MODE_SPANS);
	trace_builder_chunk(&run.builder, 301, 0, 0);
	for (unsigned n = 0; n < 6; n++)
		work(&run, n);
	trace_builder_finish(&run.builder);
	snprintf(path, sizeof(path), "%s/trace/app.301.trace", fixture->folder);
	assert_true(trace_builder_save(&run.builder, path));
	trace_builder_release(&run.builder);
}

static void number(struct trace_builder *builder, uint64_t value, unsigned words)
{
	for (unsigned i = 0; i < words; i++)
		trace_builder_word(
			builder,
			(uint32_t)(value >> 32 * (builder->big_endian ? words - 1 - i : i)));
}

/* The table that a device would have made, in two halves, with a carry in an overflow entry. */
static void write_table(const struct run *run, uint64_t carry)
{
	struct trace_builder builder;

	fixture_begin_trace(run->fixture, &builder, CHUNK_BYTES);
	for (unsigned first = 0; first < SITES; first += SITES / 2) {
		unsigned entries = first ? SITES - SITES / 2 : SITES / 2;
		if (first + entries > SITES)
			break;
		trace_builder_table(&builder, 300);
		/* app is module 1 */
		const uint32_t head[] = {1, first, entries, 300, 32, 0};
		for (unsigned i = 0; i < 6; i++)
			number(&builder, head[i], 1);
		number(&builder, 1000000000, 2);
		for (unsigned i = first; i < first + entries; i++) {
			const struct truth *truth = &run->truth[i];
			number(&builder, truth->count, 1);
			number(&builder, truth->count ? ~(uint32_t)truth->minimum : 0, 1);
			number(&builder, truth->maximum, 1);
			/* a tail call's callee is known to its site */
			number(&builder, 0, 1);
			number(&builder, truth->sum, 2);
			number(&builder, truth->self, 2);
		}
		if (first && carry) {
			const uint32_t overflow[] = {MAIN_WORK, 0, (uint32_t)carry, 0};
			for (unsigned i = 0; i < 4; i++)
				number(&builder, overflow[i], 1);
			for (unsigned i = 0; i < 8; i++)
				number(&builder, 0, 1);
		}
		if (first)
			break;
	}
	fixture_save_trace(run->fixture, &builder);
}

/* The state of the trace that fixture_save_trace() has written, as if the program had been killed.
 */
static void end_by_kill(const struct fixture *fixture, bool big_endian)
{
	const uint8_t running = LITIFUT_TRACE_RUNNING;
	char path[512];
	FILE *file;

	snprintf(path, sizeof(path), "%s/trace/app.300.trace", fixture->folder);
	file = fopen(path, "r+be");
	assert_non_null(file);
	fseek(file, (long)offsetof(struct litifut_trace_header, state) + (big_endian ? 3 : 0),
	      SEEK_SET);
	assert_int_equal(fwrite(&running, 1, 1, file), 1);
	assert_int_equal(fclose(file), 0);
}

static void a_table_that_was_being_made_is_not_damaged(void **state)
{
	struct fixture_options options = fixture_defaults();

	(void)state;
	for (struct fixture *fixture = NULL; (fixture = fixture_next(fixture));)
		for (unsigned killed = 0; killed < 2; killed++) {
			struct trace_builder builder;
			struct post_totals totals;
			bool big_endian;
			char *text;

			fixture_begin_trace(fixture, &builder, CHUNK_BYTES);
			big_endian = builder.big_endian;
			trace_builder_table(&builder, 300);
			for (unsigned i = 0; i < 8; i++)
				number(&builder, 0, 1);
			fixture_save_trace(fixture, &builder);
			if (killed)
				end_by_kill(fixture, big_endian);
			text = fixture_run(fixture, "report", &options, &totals);
			assert_int_equal(strstr(text, "has entries of 0 bytes") == NULL, killed);
			free(text);
		}
}

/* Without the lines that say how the figures came about. */
static char *figures(const struct fixture *fixture, const char *format,
		     const struct fixture_options *options)
{
	struct post_totals totals;
	char *text = fixture_run(fixture, format, options, &totals), *to = text;

	for (char *line = text; *line;) {
		char *end = strchr(line, '\n') + 1;
		if (*line != '#') {
			memmove(to, line, (size_t)(end - line));
			to += end - line;
		}
		line = end;
	}
	*to = '\0';
	return text;
}

static void has_row(const char *text, const char *format, ...)
{
	char row[256];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(row, sizeof(row), format, arguments);
	va_end(arguments);
	if (!strstr(text, row))
		fail_msg("no row '%s' in:\n%s", row, text);
}

/* Where events are missing, the return of an open call may be one of them, and the next return from
 * its place that of another call. */
static void no_call_has_the_time_that_is_missing(void **state)
{
	const struct fixture_options options = fixture_defaults();

	(void)state;
	for (struct fixture *fixture = NULL; (fixture = fixture_next(fixture));) {
		struct run run = {.fixture = fixture, .random = 1, .clock = 1000};
		char *text;

		fixture_begin_trace(fixture, &run.builder, CHUNK_BYTES);
		trace_builder_header32(&run.builder, offsetof(struct litifut_trace_header, mode),
				       LITIFUT_MODE_SPANS);
		trace_builder_chunk(&run.builder, 300, LITIFUT_CHUNK_TIMED, run.clock);
		enter(&run, MAIN_WORK);
		enter(&run, WORK_LEAF);
		trace_builder_control(&run.builder, LITIFUT_WORD_LOST, 1, (const uint32_t[]){2});
		leave(&run);
		enter(&run, WORK_LEAF);
		leave(&run);
		fixture_save_trace(fixture, &run.builder);
		text = figures(fixture, "csv", &options);
		has_row(text, "\"leaf\",\"app\",call,2,1,");
		free(text);
	}
}

static void spans_and_table_give_what_happened(void **state)
{
	static const char *const names[SITES] = {
		[MAIN_WORK] = "main -> work",     [WORK_COUNT] = "work -> count",
		[COUNT_COUNT] = "count -> count", [COUNT_LEAF] = "count -> leaf",
		[WORK_FINISH] = "work -> finish",
	};
	unsigned ran = 0;

	(void)state;
	for (struct fixture *fixture = NULL; (fixture = fixture_next(fixture)); ran++) {
		struct fixture_options options = fixture_defaults();
		struct run run;
		char *text[2][4];
		for (unsigned table = 0; table < 2; table++) {
			write_spans(&run, fixture, false);
			if (table) {
				trace_builder_release(&run.builder);
				write_table(&run, 0);
			} else {
				fixture_save_trace(fixture, &run.builder);
			}
			options.output.rows = POST_ROWS_FUNCTIONS;
			options.output.sort = NULL;
			text[table][0] = figures(fixture, "report", &options);
			options.output.sort = "avg";
			text[table][1] = figures(fixture, "report", &options);
			options.output.rows = POST_ROWS_EDGES;
			text[table][2] = figures(fixture, "report", &options);
			text[table][3] = figures(fixture, "edges", &options);
		}
		for (unsigned i = 0; i < 4; i++)
			assert_string_equal(text[0][i], text[1][i]);
		for (unsigned site = 0; site < SITES; site++) {
			const struct truth *truth = &run.truth[site];
			char self[32], row[64];
			if (!names[site])
				continue;
			snprintf(row, sizeof(row), "%.3f us  %s [app]",
				 (double)truth->maximum / 1e3, names[site]);
			if (truth->maximum < 1000000 && truth->maximum >= 1000)
				has_row(text[0][2], "%s", row);
			snprintf(self, sizeof(self), "%llu  %s\n", (unsigned long long)truth->count,
				 names[site]);
			has_row(text[0][3], "%s", self);
		}
		for (unsigned i = 0; i < 8; i++)
			free(text[i / 4][i % 4]);
	}
	if (!ran)
		skip();
}

/* Numbers as they are, from the function that formats use. */
static void numbers_are_those_of_the_run(void **state)
{
	struct fixture *fixture = fixture_next(NULL);
	struct run run;

	(void)state;
	if (!fixture)
		skip();
	write_spans(&run, fixture, true);
	fixture_save_trace(fixture, &run.builder);
	struct fixture_options options = fixture_defaults();
	char *text = fixture_run(fixture, "callgrind", &options, NULL);
	uint64_t self = 0;
	for (unsigned i = 0; i < SITES; i++)
		self += run.truth[i].self;
	assert_int_equal(run.cut, 3);
	has_row(text, "events: Nanoseconds Calls\nsummary: %llu ", (unsigned long long)self);
	has_row(text, "calls=%llu 0x20060 0\n0x20010 0 %llu ",
		(unsigned long long)run.truth[MAIN_WORK].count,
		(unsigned long long)run.truth[MAIN_WORK].sum);
	free(text);
	text = fixture_run(fixture, "report", &options, NULL);
	has_row(text, "# Without a time: 3 calls cut (longjmp, exceptions), 0 still open");
	free(text);
	/* a picture: what the papers show at nodes and edges */
	text = fixture_run(fixture, "dot", &options, NULL);
	has_row(text, "work\\ntotal ");
	has_row(text, "%llu from 1 site\\nmin ",
		(unsigned long long)run.truth[COUNT_COUNT].count + 1); /* one was cut */
	free(text);
	text = fixture_run(fixture, "graph", &options, NULL);
	has_row(text, "        total         self        calls  function [module]\n");
	free(text);
	/* self time of everything, in stacks */
	text = fixture_run(fixture, "folded", &options, NULL);
	uint64_t sum = 0;
	for (const char *line = text; *line; line = strchr(line, '\n') + 1)
		sum += strtoull((const char *)memrchr(line, ' ', strcspn(line, "\n")), NULL, 10);
	assert_true(sum >= self);
	free(text);
}

/* What a process without a clock has called counts, and has no time. */
static void calls_without_a_clock_have_no_time(void **state)
{
	struct fixture_options options = fixture_defaults();
	struct fixture *fixture = fixture_next(NULL);
	struct run run;
	char *text[2], row[128];
	unsigned long long calls = 0;

	(void)state;
	if (!fixture)
		skip();
	write_spans(&run, fixture, false);
	fixture_save_trace(fixture, &run.builder);
	text[0] = figures(fixture, "merge", &options);
	add_clockless(fixture);
	text[1] = figures(fixture, "merge", &options);
	/* the times of the one run that has some */
	for (const char *line = strchr(text[0], '\n') + 1; *line; line = strchr(line, '\n') + 1) {
		snprintf(row, sizeof(row), "%.52s     2 ", line);
		has_row(text[1], "%s", row);
	}
	free(text[0]);
	free(text[1]);
	const struct truth *truth = &run.truth[MAIN_WORK];
	text[0] = figures(fixture, "csv", &options);
	has_row(text[0], ",call,%llu,%llu,%llu,%llu,%llu,%llu\r\n",
		2 * (unsigned long long)truth->count, (unsigned long long)truth->count,
		(unsigned long long)truth->sum, (unsigned long long)truth->self,
		(unsigned long long)truth->minimum, (unsigned long long)truth->maximum);
	free(text[0]);
	for (unsigned site = 0; site < SITES; site++)
		calls += run.truth[site].count;
	text[0] = fixture_run(fixture, "report", &options, NULL);
	has_row(text[0], ", %llu in processes without a clock.\n", calls);
	free(text[0]);
	options.output.rows = POST_ROWS_THREADS;
	text[0] = fixture_run(fixture, "report", &options, NULL);
	snprintf(row, sizeof(row), "%12s %12s %5.1f%% %12llu  process 301 ", "-", "-", 0.0, calls);
	has_row(text[0], "%s", row);
	free(text[0]);
}

/* Sets the `exit` of a site in the program's file: 0, its return is not recorded. */
static void set_exit(const struct fixture *fixture, unsigned site, uint32_t exit)
{
	static uint8_t bytes[1 << 20];
	const uint32_t at = places[site].function + 16 * places[site].line;
	const bool big = fixture->target->big_endian;
	char path[128];
	uint8_t wanted[4];

	snprintf(path, sizeof(path), "%s/app", fixture->folder);
	FILE *file = fopen(path, "r+b");
	assert_non_null(file);
	const size_t size = fread(bytes, 1, sizeof(bytes), file);
	litifut_put32(big, wanted, at);
	const uint8_t *record = memmem(bytes, size, wanted, 4);
	assert_non_null(record);
	litifut_put32(big, wanted, exit);
	fseek(file, record + 20 - bytes, SEEK_SET);
	fwrite(wanted, 1, 4, file);
	assert_int_equal(fclose(file), 0);
}

/* The outer call of count() has no recorded return: the total is that of the inner one. */
static void a_recursion_counts_where_its_time_is_known(void **state)
{
	struct fixture_options options = fixture_defaults();
	unsigned ran = 0;

	(void)state;
	options.output.rows = POST_ROWS_FUNCTIONS;
	for (struct fixture *fixture = NULL; (fixture = fixture_next(fixture)); ran++) {
		struct run run = {.fixture = fixture, .random = 1, .clock = 1000};
		char time[32];

		fixture_begin_trace(fixture, &run.builder, CHUNK_BYTES);
		trace_builder_chunk(&run.builder, 300, LITIFUT_CHUNK_TIMED, run.clock);
		enter(&run, MAIN_WORK);
		enter(&run, WORK_COUNT);
		enter(&run, COUNT_COUNT);
		for (unsigned i = 0; i < 3; i++)
			pass(&run);
		leave(&run);
		end_frame(&run, false);
		enter(&run, WORK_LEAF);
		leave(&run);
		leave(&run);
		fixture_save_trace(fixture, &run.builder);
		const uint32_t exit =
			places[WORK_COUNT].function + 16 * places[WORK_COUNT].line + 2;
		set_exit(fixture, WORK_COUNT, 0);
		char *text = fixture_run(fixture, "html", &options, NULL);
		has_row(text, "Calls without a time, as their return is not recorded: 1. Their");
		free(text);
		text = fixture_run(fixture, "report", &options, NULL);
		has_row(text, "1 whose return is not recorded.\n# The own time of those");
		has_row(text, "# A total with > is at least so much");
		free(text);
		for (unsigned f = 0; f < 2; f++) {
			text = fixture_run(fixture, f ? "mermaid" : "dot", &options, NULL);
			has_row(text, f ? "total #62;" : "total >");
			free(text);
		}
		text = figures(fixture, "report", &options);
		set_exit(fixture, WORK_COUNT, exit);
		snprintf(time, sizeof(time), "%.3f us", (double)run.truth[COUNT_COUNT].sum / 1e3);
		has_row(text, "\n %12s %12s ", time, time);
		free(text);
	}
	assert_true(ran > 0);
}

/* What is shown of a function that has more self time than its calls with a return took. */
static void a_total_is_not_below_its_part(void **state)
{
	const struct post_measures measures = {0};
	struct post_metrics metrics = {0};
	char text[64];

	(void)state;
	metrics.value[POST_METRIC_TIMED] = 1;
	metrics.value[POST_METRIC_TOTAL] = metrics.value[POST_METRIC_MAX] = 5;
	metrics.value[POST_METRIC_SELF] = 5;
	assert_string_equal(post_measures_total_text(&measures, &metrics, text, sizeof(text)), "5");
	metrics.value[POST_METRIC_SELF] = 9;
	assert_string_equal(post_measures_total_text(&measures, &metrics, text, sizeof(text)),
			    ">9");
}

static void counts_carry(void **state)
{
	struct fixture *fixture = fixture_next(NULL);
	struct fixture_options options = fixture_defaults();
	struct post_totals totals;
	struct run run;

	(void)state;
	if (!fixture)
		skip();
	write_spans(&run, fixture, false);
	trace_builder_release(&run.builder);
	write_table(&run, 2);
	char *text = fixture_run(fixture, "edges", &options, &totals);
	has_row(text, "%llu  main -> work",
		(unsigned long long)(run.truth[MAIN_WORK].count + (2ull << 32)));
	free(text);
	/* there is no order that could be shown */
	text = fixture_run(fixture, "tree", &options, &totals);
	has_row(text, "tree can't show it; see report, edges, dot, callgrind, html; for tree link "
		      "with LITIFUT_MODE=spans");
	free(text);
}

/* What is left, with its callers where -F is not given. */
static void filters_go_by_subtree_depth_and_time(void **state)
{
	static const char *const only[] = {"count", NULL}, *const leaf[] = {"leaf", NULL};
	struct fixture *fixture = fixture_next(NULL);
	struct run run;

	(void)state;
	if (!fixture)
		skip();
	write_spans(&run, fixture, false);
	fixture_save_trace(fixture, &run.builder);
	for (unsigned f = 0; f < 2; f++) {
		const char *format = f ? "edges" : "tsv";
		struct fixture_options options = fixture_defaults();
		options.filter.only = only;
		char *text = fixture_run(fixture, format, &options, NULL);
		has_row(text, f ? "count -> leaf" : "\tcount\t");
		assert_null(strstr(text, f ? "main -> work" : "\tmain\t"));
		free(text);
		options = fixture_defaults();
		options.filter.without = leaf;
		text = fixture_run(fixture, format, &options, NULL);
		assert_null(strstr(text, "leaf"));
		has_row(text, f ? "work -> count" : "\tcount\t");
		free(text);
		options = fixture_defaults();
		options.filter.deepest = 2; /* main, work */
		text = fixture_run(fixture, format, &options, NULL);
		assert_null(strstr(text, "count"));
		has_row(text, f ? "main -> work" : "\twork\t");
		free(text);
		options = fixture_defaults();
		options.filter.shortest_ns = run.truth[MAIN_WORK].maximum;
		text = fixture_run(fixture, format, &options, NULL);
		has_row(text, f ? "1  main -> work" : "\twork\t");
		assert_null(strstr(text, "leaf"));
		free(text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_call_has_the_time_that_is_missing),
		cmocka_unit_test(spans_and_table_give_what_happened),
		cmocka_unit_test(numbers_are_those_of_the_run),
		cmocka_unit_test(calls_without_a_clock_have_no_time),
		cmocka_unit_test(a_recursion_counts_where_its_time_is_known),
		cmocka_unit_test(a_total_is_not_below_its_part),
		cmocka_unit_test(counts_carry),
		cmocka_unit_test(a_table_that_was_being_made_is_not_damaged),
		cmocka_unit_test(filters_go_by_subtree_depth_and_time),
	};

	return cmocka_run_group_tests_name("post: measures", tests, fixtures_build,
					   fixtures_remove);
}
