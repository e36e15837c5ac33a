/* Every output format over the same traces on every CPU, against one expected
 * text each in tests/golden/post. LITIFUT_UPDATE_GOLDENS=1 writes them anew:
 * read the difference before committing it. */
#include <setjmp.h>
#include <stdarg.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "postproc/formats/text.h"
#include "tests/unit/post_fixture.h"
#include "tests/unit/trace_builder.h"

#define GOLDENS "tests/golden/post"

static char *read_file(const char *path)
{
	FILE *file = fopen(path, "rb");
	char *text = NULL;
	size_t size = 0;

	if (!file)
		return NULL;
	if (getdelim(&text, &size, '\0', file) < 0)
		text[0] = '\0';
	fclose(file);
	return text;
}

static void equals_golden(const struct fixture *fixture, const char *name, const char *text)
{
	char path[128];

	snprintf(path, sizeof(path), GOLDENS "/%s", name);
	if (getenv("LITIFUT_UPDATE_GOLDENS")) {
		FILE *file = fopen(path, "wb");
		assert_non_null(file);
		fputs(text, file);
		assert_int_equal(fclose(file), 0);
		return;
	}
	char *golden = read_file(path);
	if (!golden)
		fail_msg("%s is missing", path);
	if (strcmp(golden, text))
		print_error("%s on %s gives:\n%s", name, fixture->target->name, text);
	assert_string_equal(text, golden);
	free(golden);
}

static const struct fixture *one; /* where any will do */

static void need_fixture(void)
{
	one = fixture_next(NULL);
	if (!one)
		skip();
}

/* Of an HTML report only the data are compared: what draws them is the same in all. */
static void keep_data(char *text)
{
	char *data = strstr(text, "id=\"data\">");
	char *end = data ? strstr(data, "</script>") : NULL;

	if (!end)
		return;
	data = strchr(data, '\n') + 1;
	memmove(text, data, (size_t)(end - data));
	text[end - data] = '\0';
}

/* Runs `format` on every CPU that there is a compiler for, on traces of each version. */
static void golden(const char *format, const char *name, const struct fixture_options *options,
		   bool timed)
{
	unsigned ran = 0;

	for (struct fixture *fixture = NULL; (fixture = fixture_next(fixture));) {
		for (trace_builder_version = 1;
		     trace_builder_version <= LITIFUT_TRACE_VERSION_MAJOR;
		     trace_builder_version++) {
			fixture_write_traces(fixture, timed);
			char *text = fixture_run(fixture, format, options, NULL);
			keep_data(text);
			equals_golden(fixture, name, text);
			free(text);
		}
		trace_builder_version = LITIFUT_TRACE_VERSION_MAJOR;
		ran++;
	}
	if (!ran)
		skip();
}

static void every_format(void **state)
{
	(void)state;
	struct fixture_options options = fixture_defaults();

	for (size_t i = 0; post_formats[i]; i++) {
		/* see test_post_program and tests/e2e/paths-coverage.sh */
		if (post_formats[i]->binary || post_formats[i]->flags ||
		    post_formats[i]->interactive)
			continue;
		options.output.function = post_formats[i]->asks_for_function ? "count" : NULL;
		golden(post_formats[i]->name, post_formats[i]->name, &options, false);
	}
}

/* What shows nesting has the functions that were entered before --from. */
static void windows_begin_inside_functions(void **state)
{
	static const char *const formats[][2] = {
		{"tree", "tree-from"}, {"folded", "folded-from"}, {"chrome", "chrome-from"}};
	struct fixture_options options = fixture_defaults();

	(void)state;
	options.window.by_event = true;
	options.window.first_event = 6;
	options.window.last_event = 11;
	for (size_t i = 0; i < sizeof(formats) / sizeof(*formats); i++)
		golden(formats[i][0], formats[i][1], &options, false);
}

static void keep_line(void *line, const struct litifut_error *error)
{
	strcpy(line, error->message);
}

static void what_no_browser_opens_is_named(void **state)
{
	char line[sizeof(((struct litifut_error *)0)->message)] = "";
	struct post_problems problems = {.report = keep_line, .context = line};
	struct post_session session = {.problems = &problems};
	struct post_output output = {.session = &session};

	(void)state;
	post_note_large_text(&output, -1, NULL); /* what ftello() says of a pipe */
	post_note_large_text(&output, (1 << 29) - 24, NULL);
	assert_string_equal(line, "");
	post_note_large_text(&output, 1000000000, "-f perfetto is smaller");
	assert_non_null(strstr(line, "the output will have 1000 MB or more"));
	assert_non_null(strstr(line, "-f perfetto is smaller"));
	line[0] = 0;
	post_note_large_text(&output, 1100000000, NULL);
	assert_string_equal(line, ""); /* once is enough */
	assert_int_equal(problems.count, 0);
}

static void time_orders_processes(void **state)
{
	(void)state;
	golden("calls", "calls-timed", NULL, true);
	golden("report", "report-timed", NULL, true); /* bounds */
	golden("chrome", "chrome-timed", NULL, true);
}

static void is_packed(const struct fixture *fixture)
{
	char path[128];
	struct post_trace *trace;
	struct post_problems problems = {0};

	snprintf(path, sizeof(path), "%s/trace/app.100.trace", fixture->folder);
	assert_int_equal(post_trace_open(path, &trace, &problems, NULL), LITIFUT_OK);
	for (size_t i = 0; i < trace->chunk_count; i++)
		assert_int_not_equal(trace->chunks[i].packed_bytes, 0);
	post_trace_close(trace);
}

/* Compact blocks hold the very same words. */
static void compact_traces_give_the_same(void **state)
{
	static const char *const formats[] = {"calls", "edges"};

	(void)state;
	for (struct fixture *fixture = NULL; (fixture = fixture_next(fixture));) {
		for (size_t f = 0; f < 4; f++) {
			bool timed = f >= 2;
			struct post_totals totals;
			fixture_write_packed_traces(fixture, timed, true);
			is_packed(fixture);
			char *text = fixture_run(fixture, formats[f % 2], NULL, &totals);
			equals_golden(fixture, timed && f % 2 == 0 ? "calls-timed" : formats[f % 2],
				      text);
			assert_int_equal(totals.events, 20);
			free(text);
		}
	}
}

/* The number behind the kind of a line of csv; 0: it is the head. */
static uint64_t csv_calls(const char *line, size_t length)
{
	const char *kind = memmem(line, length, ",call,", 6);

	if (!kind)
		kind = memmem(line, length, ",tail,", 6);
	return kind ? strtoull(kind + 6, NULL, 10) : 0;
}

/* How many calls a format has written. */
static uint64_t calls_in(const char *format, const char *text)
{
	uint64_t count = 0, number;
	bool table = !strcmp(format, "edges") || !strcmp(format, "report");

	for (const char *line = text; *line; line = strchr(line, '\n') + 1) {
		size_t length = strcspn(line, "\n");
		if (table && sscanf(line, "%" SCNu64, &number) == 1)
			count += number;
		else if (!strcmp(format, "csv"))
			count += csv_calls(line, length);
		else if (!strcmp(format, "graph"))
			count += sscanf(line, "%*f%% %" SCNu64, &number) == 1 ? number : 0;
		else if (!strcmp(format, "folded"))
			count += strtoull(memrchr(line, ' ', length), NULL, 10);
		else if (!strcmp(format, "chrome"))
			count += memmem(line, length, "\"site\"", 6) != NULL;
		else if (!strcmp(format, "callgrind") &&
			 sscanf(line, "summary: %" SCNu64, &number) == 1)
			count += number;
		else if (!strcmp(format, "json") &&
			 sscanf(line,
				"{\"format\":\"litifut-calls\",\"version\":1,\"calls\":%" SCNu64,
				&number) == 1)
			count += number;
		else if (!strcmp(format, "html") && sscanf(line,
							   "{\"format\":\"litifut-html\",\"unit\":"
							   "\"calls\",\"calls\":%" SCNu64,
							   &number) == 1)
			count += number;
		else if (!strcmp(format, "calls") || !strcmp(format, "tsv"))
			count += !strncmp(line, "process", 7) ? 0 : 1;
		else if (!strcmp(format, "tree"))
			count += length && strncmp(line, "process", 7) &&
				 !strchr("*.", line[strspn(line, " ")]);
	}
	return !strcmp(format, "tsv") ? count - 1 : count; /* the names of columns */
}

/* A message says that nothing is left; a heading alone would look like a result. */
static void a_report_of_nothing_is_empty(void **state)
{
	static const char *const none[] = {"nofun", NULL};
	struct fixture_options options = fixture_defaults();
	struct post_totals totals;
	char *text;

	(void)state;
	need_fixture();
	options.session.include = none;
	for (int timed = 0; timed < 2; timed++) {
		fixture_write_traces(one, timed);
		text = fixture_run(one, "report", &options, &totals);
		assert_string_equal(text, "");
		assert_int_equal(totals.shown, 0);
		assert_int_not_equal(totals.events, 0);
		free(text);
	}
}

static void filters_mean_the_same(void **state)
{
	static const char *const scales[] = {"shape::*", "*scale*", NULL};
	static const char *const leaf[] = {"leaf", NULL};
	static const char *const library[] = {"libshape*", NULL};
	struct post_totals totals;

	(void)state;
	struct {
		const char *name;
		struct fixture_options options;
		uint64_t shown;
	} cases[] = {
		{"none", fixture_defaults(), 20},    {"include", fixture_defaults(), 3},
		{"exclude", fixture_defaults(), 13}, {"module", fixture_defaults(), 6},
		{"pid", fixture_defaults(), 2},      {"tid", fixture_defaults(), 1},
		{"window", fixture_defaults(), 4},
	};
	static const uint32_t pid[] = {200}, tid[] = {101};
	cases[1].options.session.include = scales;
	cases[2].options.session.exclude = leaf;
	cases[3].options.session.modules = library;
	cases[4].options.session.pids = pid;
	cases[4].options.session.pid_count = 1;
	cases[5].options.session.tids = tid;
	cases[5].options.session.tid_count = 1;
	cases[6].options.window.by_event = true; /* 3 of thread 100, 0 of 101, 1 of 200 */
	cases[6].options.window.first_event = 1;
	cases[6].options.window.last_event = 3;
	need_fixture();
	fixture_write_traces(one, false);
	for (size_t c = 0; c < sizeof(cases) / sizeof(*cases); c++) {
		for (size_t f = 0; post_formats[f]; f++) {
			const char *format = post_formats[f]->name;
			if (post_formats[f]->binary || post_formats[f]->flags ||
			    post_formats[f]->interactive)
				continue;
			cases[c].options.output.function =
				post_formats[f]->asks_for_function ? "*" : NULL;
			cases[c].options.output.min_share = 0;
			char *text = fixture_run(one, format, &cases[c].options, &totals);
			bool table = !strcmp(format, "dot") || !strcmp(format, "mermaid") ||
				     !strcmp(format, "merge") || !strcmp(format, "speedscope") ||
				     post_formats[f]->binary;
			uint64_t written = table ? 0 : calls_in(format, text);
			if (totals.shown != cases[c].shown)
				fail_msg("%s %s: %d", cases[c].name, format, (int)totals.shown);
			if (!table && !post_formats[f]->asks_for_function &&
			    written != cases[c].shown)
				fail_msg("%s %s writes %d calls:\n%s", cases[c].name, format,
					 (int)written, text);
			free(text);
		}
	}
}

static void windows_count_events_or_time(void **state)
{
	struct post_totals totals;
	struct fixture_options options = fixture_defaults();
	static const char *const formats[] = {"calls", "edges"};

	(void)state;
	need_fixture();
	fixture_write_traces(one, false);
	options.window.by_event = true;
	options.window.first_event = 1;
	options.window.last_event = 3;
	for (size_t f = 0; f < 2; f++) {
		free(fixture_run(one, formats[f], &options, &totals));
		assert_int_equal(totals.shown, 4); /* 3 of thread 100, 0 of 101, 1 of 200 */
		assert_int_equal(totals.events, 20);
	}
}

static void summary_counts_everything(void **state)
{
	struct post_totals totals;

	(void)state;
	for (struct fixture *fixture = NULL; (fixture = fixture_next(fixture));) {
		fixture_write_traces(fixture, false);
		free(fixture_run(fixture, "report", NULL, &totals));
		assert_int_equal(totals.events, 20);
		assert_int_equal(totals.shown, 20);
		assert_int_equal(totals.lost, 3);
		assert_int_equal(totals.processes, 2);
		assert_int_equal(totals.threads, 3);
		assert_int_equal(totals.modules, 2);
		assert_int_equal(totals.unresolved, 0);
	}
}

static void veneers_on_request(void **state)
{
	struct fixture_options options = fixture_defaults();

	(void)state;
	options.session.veneers = true;
	for (struct fixture *fixture = NULL; (fixture = fixture_next(fixture));) {
		char *text = fixture_run(fixture, "calls", &options, NULL);
		assert_non_null(
			strstr(text, "main+0x40 -> __LongThunk_far_away -> far_away [app]\n"));
		free(text);
	}
}

static void plt_entries_on_request(void **state)
{
	struct fixture_options options = fixture_defaults();

	(void)state;
	options.session.plt = true;
	for (struct fixture *fixture = NULL; (fixture = fixture_next(fixture));) {
		fixture_write_traces(fixture, false);
		char *text = fixture_run(fixture, "calls", &options, NULL);
		assert_non_null(strstr(text, "main+0x20 -> area@plt [app]\n"));
		assert_null(strstr(text, "-> area [libshape.so]"));
		free(text);
		text = fixture_run(fixture, "tsv", &options, NULL);
		assert_non_null(strstr(text, "\tarea@plt\tcall\tplt\t\n"));
		free(text);
		text = fixture_run(fixture, "tree", &options, NULL); /* the function is inside */
		assert_non_null(strstr(text, "  area@plt [app]\n    local_scale [libshape.so]\n"));
		free(text);
	}
}

static void names_can_stay_mangled(void **state)
{
	struct fixture_options options = fixture_defaults();

	(void)state;
	need_fixture();
	options.session.demangle = false;
	char *text = fixture_run(one, "edges", &options, NULL);
	assert_non_null(strstr(text, "callback -> _ZN5shape5scaleEi\n"));
	free(text);
}

/* Without the files, addresses are what is left, and it is said why. */
static void without_elf_files(void **state)
{
	char command[512];
	struct post_totals totals;

	(void)state;
	need_fixture();
	fixture_write_traces(one, false);
	struct fixture moved = *one;
	snprintf(command, sizeof(command), "mkdir %s/away && mv %s/app %s/libshape.so %s/away",
		 moved.folder, moved.folder, moved.folder, moved.folder);
	assert_int_equal(system(command), 0);
	snprintf(command, sizeof(command), "mv %s/away /tmp/litifut-post-away.%d", moved.folder,
		 getpid());
	assert_int_equal(system(command), 0);
	char *text = fixture_run(&moved, "calls", NULL, &totals);
	snprintf(command, sizeof(command),
		 "mv /tmp/litifut-post-away.%d/* %s && rmdir /tmp/litifut-post-away.%d", getpid(),
		 moved.folder, getpid());
	assert_int_equal(system(command), 0);
	assert_non_null(strstr(text, "app+0x20010 -> ? [?]\n"));
	assert_non_null(strstr(text, "libshape.so+0x4040 -> app+0x20100 [app]\n"));
	assert_non_null(strstr(text, "problem: app: no ELF file with build-id "
				     "2222222222222222222222222222222222222222 was given"));
	assert_int_equal(totals.unresolved, 20);
	free(text);
}

/* A library is unloaded, and another one is loaded at its address. The number of the epoch in the
 * head of a chunk says which of them its first calls are in. */
static void chunks_begin_in_their_epoch(void **state)
{
	static const char *const formats[] = {"edges", "calls"};
	struct litifut_module_record library = {.load_bias = 0x50000000,
						.text_start = 0x50001000,
						.text_end = 0x50002000,
						.build_id_bytes = 1};
	struct trace_builder builder;

	(void)state;
	need_fixture();
	fixture_begin_trace(one, &builder, 256);
	for (uint32_t i = 0; i < 2; i++) {
		library.serial = 8 + i;
		library.epoch = i;
		library.build_id[0] = (uint8_t)i;
		snprintf(library.name, sizeof(library.name), "library%u.so", i);
		trace_builder_module(&builder, &library);
	}
	trace_builder_unload(&builder, 8, 1);
	for (uint32_t i = 0; i < 2; i++) {
		trace_builder_chunk(&builder, 300, i << LITIFUT_CHUNK_EPOCH_SHIFT, 0);
		trace_builder_call(&builder, 0x50001240);
	}
	fixture_save_trace(one, &builder);
	for (size_t i = 0; i < sizeof(formats) / sizeof(*formats); i++) {
		char *text = fixture_run(one, formats[i], NULL, NULL);

		assert_non_null(strstr(text, "library0.so+0x"));
		assert_non_null(strstr(text, "library1.so+0x"));
		free(text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_format),
		cmocka_unit_test(windows_begin_inside_functions),
		cmocka_unit_test(what_no_browser_opens_is_named),
		cmocka_unit_test(time_orders_processes),
		cmocka_unit_test(compact_traces_give_the_same),
		cmocka_unit_test(a_report_of_nothing_is_empty),
		cmocka_unit_test(filters_mean_the_same),
		cmocka_unit_test(windows_count_events_or_time),
		cmocka_unit_test(summary_counts_everything),
		cmocka_unit_test(veneers_on_request),
		cmocka_unit_test(plt_entries_on_request),
		cmocka_unit_test(names_can_stay_mangled),
		cmocka_unit_test(without_elf_files),
		cmocka_unit_test(chunks_begin_in_their_epoch),
	};
	return cmocka_run_group_tests_name("post: formats", tests, fixtures_build, fixtures_remove);
}
