/* The program itself: options, exit status, packed input, comparing two runs,
 * what a terminal gets. Longer than 500 lines, because they are cases of one fixture. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/unit/post_fixture.h"
#include "tests/unit/trace_builder.h"

static struct fixture fixture;
static bool built;
/* A link to the program, in a separate folder: the tests use its name as one word, and that of the
 * build folder may have a blank. */
static char post_folder[] = "/tmp/litifut-post-link.XXXXXX", post_link[64];
static int status; /* of the last command */

/* Runs a shell command in the fixture's folder, with $post for the program;
 * gives what it printed, standard error included. */
static char *shell(const char *format, ...)
{
	char command[2048], whole[4096];
	va_list arguments;
	char *text = NULL;
	size_t size = 0;

	va_start(arguments, format);
	vsnprintf(command, sizeof(command), format, arguments);
	va_end(arguments);
	snprintf(whole, sizeof(whole), "post=%s; cd %s && { %s; } 2>&1", post_link, fixture.folder,
		 command);
	FILE *pipe = popen(whole, "r");
	assert_non_null(pipe);
	if (getdelim(&text, &size, '\0', pipe) < 0) {
		free(text);
		text = post_copy_text("");
	}
	int result = pclose(pipe);
	status = WIFEXITED(result) ? WEXITSTATUS(result) : 128;
	return text;
}

static void gives(int expected_status, const char *expected, const char *command)
{
	char *text = shell("%s", command);

	if (status != expected_status || (expected && !strstr(text, expected)))
		fail_msg("%s\nstatus %d, not %d; wanted: %s\ngot:\n%s", command, status,
			 expected_status, expected ? expected : "", text);
	free(text);
}

static bool missing(const char *program)
{
	free(shell("command -v %s", program));
	return status != 0;
}

static void need_fixture(void)
{
	if (!built)
		skip();
}

static void wrong_usage_is_2(void **state)
{
	(void)state;
	need_fixture();
	gives(2, "no trace was given", "$post");
	gives(2, "unknown format xml", "$post -f xml .");
	gives(2, "this command stands before its options: path-diff",
	      "$post -q path-diff good bad app");
	gives(2,
	      "--function is missing for callers-of: as a command it takes a name, as in "
	      "litifut-post callers-of NAME .;",
	      "$post -f callers-of .");
	gives(2, "which function?", "$post callers-of");
	gives(2, "which function? It comes between histogram and trace;", "$post histogram trace");
	gives(2, "which function? It comes between callers-of and .;", "$post callers-of . app");
	gives(0, NULL, "mkdir work && $post callers-of work . && rmdir work");
	gives(0, "finish [app]: ", "$post callers-of --function finish . app");
	gives(0, "=> finish [app]", "$post tree .");
	gives(2, "diff takes two runs", "$post diff .");
	gives(0, "-f has no effect on diff", "$post diff -f json . .");
	gives(1, "no trace is of a process that --pid names", "$post --pid 1 .");
	gives(2, "--top takes a number, not many", "$post --top many .");
	gives(2, "--last takes a number from 1 to 67108863, not 1000000000;",
	      "$post path --last 1000000000 .");
	gives(2, "--depth takes a number from 1 to 4294967294, not 0;", "$post --depth 0 .");
	/* what was meant as the folder with the traces */
	gives(2, "no trace was given; for a folder of source files --source takes .;",
	      "$post -f html --source .");
	gives(1, ".: no trace among what was given: this folder has some, but --source takes it",
	      "$post -f html --source . app");
	gives(2, "--source takes a folder or gprof-serial, not nowhere;",
	      "$post -f html --source nowhere .");
	gives(2, "--debug-dir takes a folder, not nowhere;", "$post --debug-dir nowhere .");
	gives(2, "--sysroot takes a folder, not app;", "$post --sysroot app .");
	gives(2, "--sort takes", "$post --sort size .");
	gives(2, "--from takes a number, a time or FUNCTION#N, not 3parsecs",
	      "$post --from 3parsecs .");
	gives(2, NULL, "$post --no-such-option .");
	gives(0, "callgrind", "$post --help");
	gives(0, NULL, "$post help >a; $post --help | cmp - a");
	gives(0, NULL,
	      "for word in report diff callers-of path-diff energy; do $post help $word >a && "
	      "grep -q \"^usage: litifut-post $word\" a && $post $word --help | cmp - a || exit 3; "
	      "done; rm a");
	gives(2, "no such command or file: reprot; did you mean report?\n", "$post help reprot");
	gives(2, "no such command or file: reprot; did you mean report?\n", "$post reprot --help");
	gives(0, "litifut-post 0.", "$post --version");
	gives(0, "litifut-post 0.", "$post -V");
}

/* --from and --to with calls of functions, alone and together, in formats with and without order.
 */
static void calls_begin_and_end_a_part(void **state)
{
	(void)state;
	need_fixture();
	char *text =
		shell("$post -q calls --from count --to 'finish' trace/app.100.trace maps app "
		      "libshape.so; $post -q tsv --from 'leaf#3' --to leaf#2 . | cut -f2,6,10");
	assert_string_equal(text, "100 work+0x30 -> count [app]\n"
				  "100 count+0x10 -> count [app]\n"
				  "100 count+0x10 -> count [app]\n"
				  "100 count+0x20 -> leaf [app]\n"
				  "100 count+0x20 -> leaf [app]\n"
				  "100 count+0x20 -> leaf [app]\n"
				  "100 work+0x40 => finish [app]\n"
				  "tid\tcaller\tcallee\n"
				  "100\tcount\tleaf\n"
				  "100\tcount\tleaf\n");
	free(text);
	gives(0, " calls (3 shown)", "$post report --from work --to leaf#2 --pid 100 .");
	gives(1, "no thread makes call 9 of leaf, which --from asks for", "$post --from leaf#9 .");
	gives(1, "no thread makes call 1 of work, which --to asks for",
	      "$post --from count --to work .");
	for (const char *const *wrong =
		     (const char *const[]){"leaf#0", "'#3'", "''", "leaf#x", NULL};
	     *wrong; wrong++) {
		char command[64];
		snprintf(command, sizeof(command), "$post --to %s .", *wrong);
		gives(2, "--to takes a number, a time or FUNCTION#N, not", command);
	}
}

/* A program with another build-id in the folder b. */
#define OTHER_BUILD                                                                                \
	"mkdir b; cp app b; python3 -c 'd=open(\"app\",\"rb\").read();"                            \
	"open(\"b/app\",\"wb\").write(d.replace(bytes([0x22])*20,bytes([0x33])*20))'; "

static void problems_are_1_and_told(void **state)
{
	(void)state;
	need_fixture();
	gives(1, "litifut-post: nothing: No such file or directory", "$post nothing");
	gives(1, "app.s: not a trace, a maps file, an ELF file or what a firmware has sent",
	      "$post app.s");
	gives(1, "zero.trace: its header was never written",
	      "head -c 4096 /dev/zero >zero.trace; $post zero.trace; s=$?; rm zero.trace; exit $s");
	gives(1, "cut.trace: its header was never written",
	      "(head -c 8 /dev/zero; echo 1234) >cut.trace; $post cut.trace; s=$?; rm cut.trace; "
	      "exit $s");
	gives(1, "no trace among what was given", "$post app");
	gives(1, "no call of main in these traces: not executed, or inlined by the compiler\n",
	      "$post callers-of main trace app");
	gives(1, "no call of nobody in these traces, and no function of that name\n",
	      "$post callers-of nobody .");
	gives(1, ": the functions of app have no names, as its ELF file is not here, or is of ",
	      "$post callers-of --no-maps-paths leaf trace");
	gives(1, "and no function of that name; one name or pattern is expected, not a list\n",
	      "$post callers-of finish,main .");
	gives(1,
	      "no call of finsh in these traces, and no function of that name; there is finish\n",
	      "$post callers-of finsh .");
	gives(1, "no call by finish in these traces\n", "$post callees-of finish .");
	gives(1, "/no/such/folder/x: No such file", "$post -o /no/such/folder/x .");
	gives(1,
	      "0x64: the trace was cut here, inside its header, so that nothing of it can be read",
	      "head -c 100 trace/app.100.trace >cut.trace; $post cut.trace; s=$?; rm cut.trace; "
	      "exit $s");
	gives(1, "0xbb8: the trace was cut here, near its start: what is there is read",
	      "head -c 3000 trace/app.100.trace >cut.trace; $post cut.trace; s=$?; rm cut.trace; "
	      "exit $s");
	/* and not that the program was linked in another way than it should be */
	gives(1, "# No call is there to read: a trace is cut or damaged.\nlitifut-post: 0 calls",
	      "head -c 3000 trace/app.100.trace >cut.trace; $post report cut.trace; s=$?; "
	      "rm cut.trace; exit $s");
	gives(1, "cut.maps: 0x64: the maps file was cut here, within a line, which is left out",
	      "head -c 130 maps/app.100.maps >cut.maps; $post trace/app.100.trace cut.maps app; "
	      "s=$?; rm cut.maps; exit $s");
	gives(1, "the trace was cut behind its header, and all its calls are missing",
	      "head -c 4096 trace/app.100.trace >cut.trace; $post cut.trace; s=$?; rm cut.trace; "
	      "exit $s");
	gives(1, "nowhere: No such file", "$post diff trace nowhere app");
	gives(1, "no trace there to compare", "$post diff trace maps app");
	gives(1, "litifut-post: maps: no trace there to compare\n", "$post diff maps trace app");
	gives(0, NULL, "! $post diff maps trace app 2>&1 | grep 'among what was given'");
	gives(1, "trace is of app, other is of zzz: different programs\n",
	      "mkdir other && sed s,app,zzz,g trace/app.100.trace >other/a.trace; "
	      "$post diff trace other; s=$?; rm -r other; exit $s");
	gives(0, "0 edges differ\n",
	      "mkdir other && for f in trace/app.*.trace; do sed 's/app/apq/' $f "
	      ">other/${f#trace/}; done; $post diff trace other app libshape.so maps; s=$?; "
	      "rm -r other; exit $s");
	gives(1, "the runs are of several programs (zzz, app)",
	      "mkdir other && sed s,app,zzz,g trace/app.100.trace >other/a.trace; "
	      "$post merge trace/app.200.trace other; s=$?; rm -r other; exit $s");
	char *text = shell("mkdir empty; for f in report edges calls tsv tree json; do $post $f "
			   "empty; done; $post -o empty/x report empty; ls empty; rmdir empty");
	for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
		assert_non_null(strstr(line, "litifut-post: no trace among what was given; "));
	free(text);
	/* a command that has nothing to write leaves what is there */
	for (const char *const *each =
		     (const char *const[]){"path-ids app", "path-plain app",
					   "energy --power nosuch app", "-f ids trace app", NULL};
	     *each; each++) {
		char command[128];
		snprintf(command, sizeof(command),
			 "echo kept >out; ! $post %s -o out; cat out; ls out*; rm out*", *each);
		gives(0, "kept\nout\n", command);
	}
	gives(1, "maps: a folder; -o takes the name of a file, as in maps/report.out\n",
	      "$post report -o maps .");
	gives(1, "maps: File exists; uftrace makes a new folder", "$post uftrace -o maps trace");
	/* What is there is shown all the same. */
	gives(1, "main+0x10 -> work [app]",
	      "head -c 5000 trace/app.100.trace >cut.trace; $post cut.trace app; s=$?; "
	      "rm cut.trace; exit $s");
	gives(1,
	      "b/app: another build of app than the one that was traced (build-id "
	      "2222222222222222222222222222222222222222 in the trace, "
	      "3333333333333333333333333333333333333333 in the file: it was linked again, or with "
	      "other settings), not used for trace/",
	      OTHER_BUILD "$post trace maps b/app; s=$?; rm -r b; exit $s");
	/* beside the one that fits, and before the output */
	gives(0,
	      "litifut-post: b/app: another build of app than the one that was traced (build-id "
	      "2222222222222222222222222222222222222222 in the trace, "
	      "3333333333333333333333333333333333333333 in the file), left out: app is the one\n"
	      "# 3 calls of app",
	      OTHER_BUILD "$post report trace maps app libshape.so b/app; s=$?; rm -r b; exit $s");
	gives(0, NULL,
	      OTHER_BUILD
	      "! $post report trace maps app libshape.so b/app 2>&1 | grep 'not needed'");
	gives(0, NULL,
	      "! $post diff trace trace maps app libshape.so b/app 2>&1 | grep 'another'; rm -r b");
	gives(1, "app: traces of several builds of it are here, as each run adds one: remove",
	      "mkdir b; python3 -c 'd=open(\"trace/app.200.trace\",\"rb\").read();"
	      "open(\"b/a.trace\",\"wb\").write("
	      "d.replace(bytes([0x22])*20,bytes([0x33])*20))'; "
	      "$post --no-maps-paths trace/app.100.trace b maps app; s=$?; rm -r b; exit $s");
	gives(1,
	      "litifut-post: several builds of app are in these traces (process 100 has run app, "
	      "process 200 b/app), and a function of it has a row for each: give the traces of one "
	      "build, choose with --pid, or compare two with litifut-post diff\n",
	      OTHER_BUILD
	      "python3 -c 'd=open(\"trace/app.200.trace\",\"rb\").read();"
	      "open(\"b/a.trace\",\"wb\").write("
	      "d.replace(bytes([0x22])*20,bytes([0x33])*20))'; "
	      "$post report trace/app.100.trace b maps app libshape.so; s=$?; rm -r b; exit "
	      "$s");
	gives(0, NULL, "! $post report trace maps app libshape.so 2>&1 | grep several");
	gives(1,
	      "litifut-data/: No such file or directory: a traced program makes it where it runs "
	      "(litifut info PROGRAM says if it is traced; with LITIFUT_VERBOSE=1 it says where",
	      "$post report litifut-data/ app");
}

static void summary_goes_to_standard_error(void **state)
{
	(void)state;
	need_fixture();
	gives(0, "20 calls, 3 lost, 2 processes, 3 threads, 2 modules, 0 unresolved",
	      "$post . >/dev/null");
	gives(0, NULL, "test -z \"$($post -q . 2>&1 >/dev/null)\"");
	gives(0, "20 calls (2 shown)",
	      "$post --include '*area*' --exclude local_scale . >/dev/null");
	gives(0, NULL, "$post . 2>/dev/null | head -n 1 >/dev/null");
	/* a folder of the build in which the program was run as well */
	gives(0,
	      "1 of the 2 traces is from ., which was given for its ELF files, too; to leave "
	      "it out, name the programs and libraries in place of that folder\n",
	      "mkdir ../run && mv trace/app.200.trace ../run && $post report . ../run; s=$?; "
	      "mv ../run/app.200.trace trace; rmdir ../run; exit $s");
	gives(0, NULL,
	      "mkdir ../run && mv trace/app.200.trace ../run && $post report app libshape.so "
	      "../run 2>&1 | grep ' 1 process,'; s=$?; "
	      "mv ../run/app.200.trace trace; rmdir ../run; exit $s");
	/* a part of what lies below that folder was given, too */
	gives(0, "1 of the 2 traces is from ., which was given for its ELF files, too; ",
	      "$post merge trace/app.100.trace .");
	gives(0, NULL, "! $post report . trace 2>&1 | grep 'was given for'");
	gives(0, NULL, "! $post report trace maps app libshape.so 2>&1 | grep 'was given for'");
}

/* What was given and has no effect is reported. */
static void nothing_is_ignored_silently(void **state)
{
	(void)state;
	need_fixture();
	gives(0, "warning: --sort has no effect on calls\n", "$post --sort name .");
	gives(0, "warning: --top has no effect on tsv\n", "$post -f tsv --top 3 .");
	gives(0, "debugging information, so no source lines are shown: compile with -g\n",
	      "$post callers-of --lines leaf .");
	gives(0, NULL, "! $post callers-of leaf . 2>&1 | grep 'compile with -g'");
	gives(0, "warning: --lines has no effect on diff\n", "$post diff --lines . .");
	gives(0, NULL, "! $post -f report --sort name --top 1 --by-module . 2>&1 | grep warning");
	gives(0, NULL, "! $post -f dot --min 1 --top 5 . 2>&1 | grep warning");
	gives(0, "warning: --include has no effect on coverage\n",
	      "$post -f coverage --include 'x*' . ; exit 0");
	gives(0, NULL, "! $post --include 'w*' . 2>&1 | grep warning");
	gives(1, "no call is left by the filters given", "$post --include nobody . >/dev/null");
	gives(1, "no trace is of a process that --pid names", "$post report --pid 1 .");
	gives(0, NULL, "! $post . 2>&1 | grep 'by the filters'");
	gives(0, "warning: --flow has no effect on report\n", "$post report --flow work=leaf .");
	/* names that nothing has, and what may have been meant */
	gives(1,
	      "litifut-post: --include: no call of or by finsh in these traces, and no function of "
	      "that name; there is finish\n",
	      "$post report --include finsh .");
	gives(0, "litifut-post: --exclude: no call of or by nobody,... in these traces, and no ",
	      "$post report --exclude nobody,none .");
	gives(0, "litifut-post: -N: no call of or by laef in these traces", "$post tree -N laef .");
	gives(1, "litifut-post: -F: no call of or by laef in these traces", "$post tree -F laef .");
	gives(1, "litifut-post: --from: no call of or by laef in these traces",
	      "$post tree --from laef .");
	gives(1, "litifut-post: --module: no module ap in these traces; there is app, libshape.so",
	      "$post report --module ap .");
	gives(0, "litifut-post: --flow: no call of or by read in these traces",
	      "$post perfetto -o flow --flow 'work=read(3)' .; s=$?; rm flow; exit $s");
	gives(0, NULL,
	      "! $post tree --include 'w*' --exclude local_scale,nobody -F main -N finish --module "
	      "app . 2>&1 | grep 'in these traces'");
}

static void packed_traces_read_the_same(void **state)
{
	(void)state;
	need_fixture();
	if (missing("zstd"))
		skip();
	gives(0, NULL,
	      "$post -q -f tsv trace maps app libshape.so >plain.tsv && mkdir gz zst && "
	      "for f in trace/* maps/*; do gzip -c $f >gz/${f#*/}.gz; "
	      "zstd -qc $f >zst/${f#*/}.zst; done && "
	      "$post -q -f tsv gz app libshape.so | cmp - plain.tsv && "
	      "$post -q -f tsv zst app libshape.so | cmp - plain.tsv");
	gives(1, "the compressed data is damaged or cut",
	      "head -c 200 gz/app.100.trace.gz >cut.gz; $post cut.gz app; s=$?; rm cut.gz; exit "
	      "$s");
	gives(1, "the compressed data is damaged or cut",
	      "head -c 120 zst/app.100.trace.zst >cut.zst; $post cut.zst app; s=$?; rm cut.zst; "
	      "exit $s");
	/* A limit on the size of files stands for a full disk. */
	gives(1, "no more room for the unpacked trace in TMPDIR after",
	      "head -c 20000000 /dev/zero | cat trace/app.100.trace - | gzip -c >bomb.gz; "
	      "(ulimit -f 64; $post -o bomb.tsv -f tsv bomb.gz maps app libshape.so); s=$?; "
	      "$post -q -o whole.tsv -f tsv trace/app.100.trace maps app libshape.so; "
	      "cmp bomb.tsv whole.tsv || s=9; rm bomb.gz bomb.tsv whole.tsv; exit $s");
	gives(0, NULL, "rm -r gz zst plain.tsv");
}

static void a_database_answers_questions(void **state)
{
	(void)state;
	if (!built)
		skip();
	if (missing("sqlite3"))
		skip();
	gives(0, NULL, "$post -q -f sqlite -o trace.db trace maps app libshape.so");
	gives(0, "ok\n20\n",
	      "sqlite3 trace.db 'PRAGMA integrity_check; SELECT sum(calls) FROM calls'");
	gives(0, "leaf|7\n",
	      "sqlite3 trace.db 'SELECT name, calls FROM report ORDER BY calls DESC LIMIT 1'");
	gives(0, "main|area|2\n",
	      "sqlite3 trace.db \"SELECT caller, callee, calls FROM edges WHERE callee = 'area'\"");
	gives(0, "0\n", /* every span is a call of the same function, below what called it */
	      "sqlite3 trace.db 'SELECT count(*) FROM spans s LEFT JOIN calls c ON c.id = s.call "
	      "WHERE s.call IS NOT NULL AND c.callee IS NOT s.function'");
	gives(0, "guessed\n",
	      "sqlite3 trace.db 'SELECT DISTINCT end FROM spans WHERE duration IS "
	      "NULL AND end = \"guessed\"'");
	/* the queries of the documentation */
	gives(0, NULL,
	      "[ -z \"$OLDPWD\" ] || awk '/^```sql/ { on = 1; next } /^```/ { on = 0 } on' "
	      "\"$OLDPWD/docs/sqlite.md\" >queries.sql && [ $(grep -c ';$' queries.sql) -ge 10 ] "
	      "&& "
	      "sqlite3 -bail trace.db <queries.sql >/dev/null; status=$?; rm -f trace.db "
	      "queries.sql; exit $status");
}

static void an_output_is_whole_or_not_there(void **state)
{
	(void)state;
	if (!built)
		skip();
	gives(0, NULL,
	      "umask 027; $post -q -f edges -o new.out trace maps app libshape.so; "
	      "[ $(stat -c %a new.out) = 640 ] && [ -s new.out ]");
	gives(0, NULL,
	      "echo old >new.out; chmod 604 new.out; $post -q -f edges -o new.out trace maps "
	      "app libshape.so; [ $(stat -c %a new.out) = 604 ] && ! grep -q old new.out");
	/* a limit of the file's size, after which nothing is left behind */
	gives(0, NULL,
	      "echo old >new.out; (ulimit -f 1; $post -q -f html -o new.out trace maps app "
	      "libshape.so 2>/dev/null) && exit 1; [ $(cat new.out) = old ] && "
	      "[ -z \"$(ls new.out.* 2>/dev/null)\" ] && rm new.out");
	gives(1, "No space left", "$post -q -f edges -o /dev/full trace maps app libshape.so");
	gives(0, "callgrind ", "$post -f list");
}

static void write_long_trace(const char *name)
{
	struct trace_builder builder;
	char path[128];

	trace_builder_start(&builder, false, BUILDER_MACHINE_ARM, 1, "p");
	trace_builder_chunk(&builder, 1, 0, 0);
	for (uint32_t i = 0; i < 20000; i++)
		trace_builder_call(&builder, 0x10000 + i % 64 * 4);
	trace_builder_finish(&builder);
	snprintf(path, sizeof(path), "%s/%s", fixture.folder, name);
	assert_true(trace_builder_save(&builder, path));
	trace_builder_release(&builder);
}

/* The reader is gone before the first byte; what is written is larger than a buffer. */
static void a_closed_pipe_is_not_a_failure(void **state)
{
	static const char *const formats[] = {"sqlite", "html", "calls", "tsv"};

	(void)state;
	need_fixture();
	write_long_trace("many");
	for (size_t i = 0; i < sizeof(formats) / sizeof(*formats); i++) {
		char command[300];
		snprintf(command, sizeof(command),
			 "{ while [ ! -e gone ]; do sleep 0.01; done; $post -q -f %s many 2>said; "
			 "} | { exec <&-; touch gone; }; rm gone; cat said; rm said",
			 formats[i]);
		char *text = shell("%s", command);
		assert_null(strstr(text, "standard output"));
		free(text);
	}
	gives(0, NULL, "rm many");
}

static void an_input_is_not_overwritten(void **state)
{
	(void)state;
	need_fixture();
	/* named, found in a folder, by another name, of commands with other options */
	static const char *const lost[] = {
		"-f edges -o app.new . app.new",
		"-f edges -o kept/a.trace kept app",
		"-f edges -o linked kept app",
		"-f edges -o app.new kept linked-app",
		"diff -o kept/a.trace kept trace app",
		"-f edges -o all.tar all.tar",
		"path-ids -o app.new app.new",
		"energy -o power.csv --power power.csv kept app",
		"energy -o kept/a.trace --power power.csv kept app",
	};
	gives(0, NULL,
	      "mkdir kept; cp trace/app.100.trace kept/a.trace; cp maps/* kept; cp app app.new; "
	      "ln -s app.new linked-app; ln kept/a.trace linked; tar cf all.tar kept; "
	      "echo time,power >power.csv; cat app.new kept/* all.tar power.csv | md5sum >sums");
	for (size_t i = 0; i < sizeof(lost) / sizeof(*lost); i++) {
		char command[256];
		snprintf(command, sizeof(command),
			 "$post %s; s=$?; cat app.new kept/* all.tar power.csv | md5sum | "
			 "cmp - sums && exit $s",
			 lost[i]);
		gives(1, ": it is an input, and would be lost: -o takes another name\n", command);
	}
	/* what lies in a folder and is not read can be written anew */
	gives(0, NULL,
	      "echo old >kept/edges; $post -q -f edges -o kept/edges kept app libshape.so && "
	      "grep -q 'main -> work' kept/edges");
	gives(0, NULL, "rm -r kept app.new linked linked-app all.tar power.csv sums");
}

static void a_link_leads_to_the_output(void **state)
{
	(void)state;
	need_fixture();
	gives(0, NULL, "mkdir far; ln -s far/real link; ln -s link second; echo old >far/real");
	for (int round = 0; round < 2; round++) /* a file that is there, and one that is not */
		gives(0, NULL,
		      "$post -q -f edges -o second . && [ -L second ] && [ -L link ] && "
		      "grep -q 'main -> work' far/real && [ $(ls far) = real ] && rm far/real");
	gives(0, "main -> work", "$post -q -f edges -o /dev/stdout . >log; cat log; rm log");
	gives(1, "Too many levels", "ln -s round round; $post -q -f edges -o round .");
	gives(0, NULL, "rm -r far link second round");
}

/* A few bytes of .gz that unpack to many: zeros take no disk, and there is a limit. */
static void unpacking_is_bounded(void **state)
{
	(void)state;
	if (!built)
		skip();
	gives(0, NULL,
	      "fixture_trace=$(ls trace/*.trace | head -1); cp $fixture_trace long.trace && "
	      "truncate -s 300M long.trace && gzip -1 long.trace");
	gives(1, "larger than --max-unpacked allows; its first 1048576 bytes are read",
	      "$post -f report --max-unpacked 1M long.trace.gz");
	gives(2, "--max-unpacked takes a size, not 1X", "$post --max-unpacked 1X long.trace.gz");
	gives(2, "--max-calls takes a number from 1 to 4294967294, not 0",
	      "$post --max-calls 0 long.trace.gz");
	gives(0, NULL,
	      "ulimit -f 20480; $post -q -f edges long.trace.gz trace/app.200.trace maps app "
	      "libshape.so >long.out; $post -q -f edges trace maps app libshape.so | cmp - "
	      "long.out; "
	      "rm long.*");
}

static void diff_tells_new_gone_and_changed(void **state)
{
	(void)state;
	need_fixture();
	const char *runs = "mkdir old new; cp trace/app.100.trace maps/*.100.maps old; "
			   "cp trace/app.200.trace maps/*.200.maps new";
	free(shell("%s", runs));
	gives(0, "gone               4            0            count -> leaf [app]\n",
	      "$post diff old new app libshape.so");
	gives(0, "11 edges differ", "$post diff old new app libshape.so");
	gives(0, "new                0            4            count -> leaf [app]\n",
	      "$post diff new old app libshape.so");
	gives(0, "0 edges differ", "$post diff old old app libshape.so");
	/* one run, and two of which one is the same */
	gives(0, "changed          4.0          2.0    -50.0%  count -> leaf [app]\n",
	      "cp trace/* maps/* new; $post diff old new app libshape.so");
	gives(0, NULL, "! $post diff old new app libshape.so | grep 'main -> area'");
	gives(1, "new: traces behind the two sides: the order is diff OLD NEW [ELF...]",
	      "$post diff old old new");
	gives(1,
	      "trace/app.100.trace: it is of both sides, trace/app.100.trace and trace: the order",
	      "$post diff trace/app.100.trace trace app libshape.so");
	gives(1,
	      "trace/app.100.trace: it is of both sides, trace/app.100.trace and trace: the order",
	      "$post path-diff trace/app.100.trace trace app");
	gives(1, "path-diff: new: traces behind the two sides: the order is path-diff GOOD BAD",
	      "$post path-diff old old app new");
	/* both are where the programs are as well */
	gives(0,
	      "litifut-post: build: it stands behind the two sides: its programs and libraries are "
	      "taken, and not its traces\n",
	      "mkdir build; cp -r old new app libshape.so build; $post diff old new build");
	gives(0, "the same\n",
	      "$post -q diff old new app libshape.so >a; $post -q diff old new build >b; cmp a b "
	      "&& "
	      "grep -q leaf a && echo the same");
	gives(0, NULL, "rm -r old new build a b");
}

static void direct(struct trace_builder *builder, uint32_t address, uint32_t time)
{
	trace_builder_word(builder, address + fixture.target->thumb);
	trace_builder_word(builder, time);
}

/* main() calls work(), which is busy for 8 ms, calls leaf() for 1 us, and returns 2 us later. */
static void write_spans(const char *name, uint32_t pid)
{
	const uint32_t length = fixture.target->machine == BUILDER_MACHINE_MIPS ? 8 : 4;
	const uint32_t main_work = 0x20010, work_leaf = 0x20070;
	struct trace_builder builder;
	char path[128];

	fixture_begin_trace(&fixture, &builder, 65536);
	trace_builder_header32(&builder, offsetof(struct litifut_trace_header, pid), pid);
	trace_builder_header32(&builder, offsetof(struct litifut_trace_header, mode),
			       LITIFUT_MODE_SPANS);
	trace_builder_header64(&builder, offsetof(struct litifut_trace_header, lost_events), 7);
	trace_builder_chunk(&builder, pid, LITIFUT_CHUNK_TIMED, 1000);
	direct(&builder, main_work + length, 1000);
	direct(&builder, work_leaf + length, 8001000);
	trace_builder_word(&builder, work_leaf + 2);
	trace_builder_word(&builder, 8002000);
	trace_builder_word(&builder, main_work + 2);
	trace_builder_word(&builder, 8004000);
	trace_builder_finish(&builder);
	snprintf(path, sizeof(path), "%s/%s.trace", fixture.folder, name);
	assert_true(trace_builder_save(&builder, path));
	trace_builder_release(&builder);
	free(shell("cp maps/app.100.maps %s.maps", name));
}

static void calls_and_returns_are_told_apart(void **state)
{
	(void)state;
	need_fixture();
	free(shell("mkdir spans"));
	write_spans("spans/app.300", 300);
	gives(0, "2 calls, 7 lost (calls and returns), 1 process,", "$post spans app");
	/* the self time of a call that is open at the mark is split there */
	gives(0,
	      "before and after:\n"
	      "calls before        after  self before        after   first call  "
	      "function [module]\n"
	      "           1            0     8.000 ms     2.000 us         0 ns  work [app]\n",
	      "$post -q report --phase leaf spans app");
	gives(0, "1            0     3.000 ms     5.002 ms         0 ns  work [app]\n",
	      "$post -q report --phase 3ms spans app");
	gives(0, "1            0     8.001 ms     1.000 us         0 ns  work [app]\n",
	      "$post -q report --phase 8002us spans app");
	/* at a leave, in the middle of the call that ends there */
	gives(0, "1            0     8.000 ms     2.000 us         0 ns  work [app]\n",
	      "$post -q report --phase 8000500ns spans app");
	gives(0, "500 ns       500 ns", "$post -q report --phase 8000500ns spans app");
	gives(0, "app\n        total         self  share", "$post -q report --by-module spans app");
	gives(1, "its returns can't be distinguished from its calls: both are counted as calls",
	      "$post report spans");
	gives(0, NULL,
	      "! $post report spans 2>&1 | grep -i 'still open\\|returns were not recorded'");
	/* one run against two that did the same */
	free(shell("mkdir more"));
	write_spans("more/app.301", 301);
	write_spans("more/app.302", 302);
	gives(0, "0 edges differ\n", "$post diff spans more app");
	gives(0, "# 2 runs", "$post merge more app");
	gives(0, NULL, "rm -r spans more");
}

/* A program that was linked as it should be need not be linked again. */
static void a_trace_of_paths_without_paths(void **state)
{
	struct trace_builder builder;
	char path[128];

	(void)state;
	need_fixture();
	fixture_begin_trace(&fixture, &builder, 4096);
	trace_builder_header32(&builder, offsetof(struct litifut_trace_header, mode),
			       LITIFUT_MODE_PATHS);
	trace_builder_finish(&builder);
	snprintf(path, sizeof(path), "%s/empty.300.trace", fixture.folder);
	assert_true(trace_builder_save(&builder, path));
	trace_builder_release(&builder);
	gives(1, "empty.300.trace: nothing in it says what code was executed: the file was cut",
	      "$post coverage empty.300.trace maps app");
	gives(1, "nothing in it says in which order code was executed: the file was cut",
	      "$post path empty.300.trace maps app");
	gives(1, "no trace says in which order code was executed: link with LITIFUT_MODE=paths",
	      "$post path trace maps app");
	gives(1,
	      "tree shows calls, and LITIFUT_MODE=paths records none, but which code was executed: "
	      "see -f report, callers-of, callees-of, callgrind, html, path, blocks, gdb, units, "
	      "coverage, branches, lcov, and path-diff; for tree link with LITIFUT_MODE=spans\n",
	      "$post tree empty.300.trace maps app");
	gives(0, NULL, "rm empty.300.trace");
}

/* As of a run with LITIFUT_START=off. */
static void a_trace_without_calls(void **state)
{
	struct trace_builder builder;
	char path[128];

	(void)state;
	need_fixture();
	fixture_begin_trace(&fixture, &builder, 4096);
	trace_builder_finish(&builder);
	gives(0, NULL, "mkdir off");
	snprintf(path, sizeof(path), "%s/off/app.100.trace", fixture.folder);
	assert_true(trace_builder_save(&builder, path));
	trace_builder_release(&builder);
	for (const char *const *format = (const char *const[]){"report", "tree", "json", NULL};
	     *format; format++) {
		char command[128];

		snprintf(command, sizeof(command), "$post %s off maps app libshape.so", *format);
		gives(0, "litifut-post: no call was recorded: recording was off (LITIFUT_START, ",
		      command);
	}
	gives(0, NULL,
	      "! $post report trace maps app libshape.so 2>&1 | grep 'no call was'; rm -r off");
}

/* LITIFUT_COPY_TO leaves two copies of each trace. */
static void copies_count_once(void **state)
{
	(void)state;
	need_fixture();
	gives(1, "the same process as ./trace/app.200.trace, left out",
	      "mkdir usb && cp trace/app.200.trace usb; $post . ; s=$?; rm -r usb; exit $s");
}

/* A file named twice is no copy: nothing to tell of. */
static void a_file_named_twice_counts_once(void **state)
{
	(void)state;
	need_fixture();
	gives(0, "100 main+0x10 -> work [app]", "$post trace ./trace/. maps app libshape.so");
	gives(0, NULL, "! $post trace ./trace/. 2>&1 | grep 'left out'");
}

/* Names from the build tree, call sites from the device, or the other way. */
static void files_of_one_build_add_up(void **state)
{
	char strip[64];

	(void)state;
	need_fixture();
	snprintf(strip, sizeof(strip), "%.*s", (int)(strlen(fixture.target->compiler) - 3),
		 fixture.target->compiler);
	char *text =
		shell("mkdir dev && %sstrip -o dev/app app && "
		      "%sobjcopy -R .litifut.sites app dev/app.full && "
		      "$post -q trace/app.100.trace maps dev/app libshape.so | head -n 1; "
		      "$post -q trace/app.100.trace maps dev libshape.so | head -n 1; rm -r dev",
		      strip, strip);
	assert_string_equal(text,
			    "litifut-post: dev/app: has no symbol table (stripped): give the "
			    "file as it was linked as well, or its debug file; if it was linked "
			    "with -s, that is NAME.litifut.debug beside it\n"
			    "100 app+0x20010 -> app+0x20060 [app]\n"
			    "100 main+0x10 -> work [app]\n");
	free(text);
}

static void ways_to_ask_for_callers(void **state)
{
	(void)state;
	need_fixture();
	gives(0, "work [app]\n             1    work+0x30", "$post callers-of count .");
	gives(0, "leaf [app]\n             4    count+0x20",
	      "$post --function 'cou*' -f callees-of .");
}

/* Files that the trace does not tell of are found through the maps file: here
 * the library is asked for by a module that was not rewritten. */
static void maps_place_other_modules(void **state)
{
	(void)state;
	need_fixture();
	char *text = shell("python3 - <<'END'\n"
			   "import struct\n"
			   "data = bytearray(open('trace/app.100.trace', 'rb').read())\n"
			   "at = data.find(b'libshape.so') - 4 * 6 - 24\n"
			   "chunk = at - at %% 256\n"
			   "data[chunk:chunk + 256] = bytes(256)\n" /* no record of the library */
			   "open('app.100.trace', 'wb').write(data)\n"
			   "END\n"
			   "$post -q app.100.trace maps app libshape.so");
	if (!strstr(text, "area+0x10 -> local_scale [libshape.so]"))
		fail_msg("%s", text);
	free(text);
	gives(1, "no maps file for process 100: addresses outside of the traced modules",
	      "$post -q app.100.trace app libshape.so; s=$?; rm app.100.trace; exit $s");
}

/* The other formats: tests/e2e/post-consumers.sh. */
static void json_is_of_one_piece(void **state)
{
	(void)state;
	need_fixture();
	gives(0, "20 calls",
	      "$post -q -f json . | python3 -c 'import json,sys; d=json.load(sys.stdin);"
	      "ids={f[\"id\"] for f in d[\"functions\"]};"
	      "assert all(e[\"caller\"] in ids and e[\"callee\"] in ids for e in d[\"edges\"]);"
	      "assert sum(s[\"calls\"] for s in d[\"sites\"])==d[\"calls\"];"
	      "assert all(f[\"module\"]<len(d[\"modules\"]) for f in d[\"functions\"]);"
	      "print(d[\"calls\"],\"calls\")'");
}

/* script(1) makes a terminal of its own. */
#define ON_A_TERMINAL "TERM=xterm script -qec"

static void a_terminal_gets_color_and_a_pager(void **state)
{
	(void)state;
	need_fixture();
	if (missing("script"))
		skip();
	gives(0, NULL,
	      "PAGER='cat >paged' " ON_A_TERMINAL " \"$post .\" log </dev/null >/dev/null && "
	      "grep -q 'main+0x10 -> work' paged && ! grep -q 'main+0x10' log && "
	      "grep -q '20 calls.* 0 unresolved.\\?$' log"); /* the summary comes after the pager is
								left */
	gives(0, NULL, "! grep -q '20 calls' paged && rm paged");
	gives(0, "options FRX",
	      "unset LESS; PAGER='echo options $LESS; cat >/dev/null' " ON_A_TERMINAL
	      " \"$post .\" log </dev/null");
	static const char *const without[] = {"PAGER=", "PAGER=cat",
					      "PAGER='cat >paged' TERM=dumb"};
	for (size_t i = 0; i < sizeof(without) / sizeof(*without); i++) {
		char command[256];
		snprintf(command, sizeof(command),
			 "export TERM=xterm; export %s; script -qec \"$post .\" log </dev/null",
			 without[i]);
		gives(0, "main+0x10 -> work", command);
	}
	gives(0, NULL,
	      "PAGER='cat >paged' " ON_A_TERMINAL
	      " \"$post --no-pager .\" log </dev/null >/dev/null && test ! -e paged");
	/* The text is not lost where there is no pager. */
	gives(0, "main+0x10 -> work",
	      "unset PAGER; mkdir bin; for p in sh test; do ln -s $(command -v $p) bin; done; "
	      "S=$(command -v script); SHELL=/bin/sh TERM=xterm PATH=$PWD/bin $S -qec \"$post .\" "
	      "/dev/null </dev/null; s=$?; rm -r bin; exit $s");
	gives(1, "the pager that PAGER names can't be run",
	      "PAGER=no-such-pager " ON_A_TERMINAL " \"$post .\" log </dev/null");
	/* Color: by itself on a terminal only, and as it is asked for. */
	const char *painted = "grep -q \"$(printf '\\033')\\[\"";
	char command[512];
	static const struct {
		const char *how;
		bool color;
	} cases[] = {
		{"PAGER= " ON_A_TERMINAL " \"$post -f report .\" log </dev/null", true},
		{"NO_COLOR=1 PAGER= " ON_A_TERMINAL " \"$post -f report .\" log </dev/null", false},
		{"PAGER= " ON_A_TERMINAL " \"$post -f report --color=never .\" log </dev/null",
		 false},
		{"$post -f report .", false},
		{"$post -f report --color=always .", true},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		snprintf(command, sizeof(command), "%s { %s | %s; }", cases[i].color ? "" : "!",
			 cases[i].how, painted);
		gives(0, NULL, command);
	}
	/* What was said above a long output is repeated below it. */
	gives(1, "as was said above: nothing: No such file or directory\r\n",
	      "PAGER= " ON_A_TERMINAL " \"$post -f report . nothing\" log </dev/null");
	gives(0, NULL, "! $post -f report . nothing 2>&1 | grep 'said above'");
	gives(0, NULL, "rm -f log paged");
}

/* The reader of the output waits, so the work is long on any machine. */
static void long_work_shows_progress(void **state)
{
	(void)state;
	need_fixture();
	if (missing("script"))
		skip();
	write_long_trace("long");
	const char *command = "mkfifo slow; { sleep 1; cat >/dev/null; } <slow & "
			      "%s \"$post -f tsv -o slow %s long\" log </dev/null; "
			      "s=$?; wait; rm slow; exit $s";
	char text[512];
	snprintf(text, sizeof(text), command, ON_A_TERMINAL, "");
	gives(1, "% of 0 MiB [#", text); /* 1: there is no maps file */
	snprintf(text, sizeof(text), command, "sh -c", "");
	gives(1, NULL, text);
	char *shown = shell("%s", text);
	assert_null(strstr(shown, "% of"));
	free(shown);
	gives(0, NULL, "rm -f log long");
}

static bool link_post(void)
{
	const char *build = getenv("BUILD");
	char name[2048];
	char *program;
	bool linked;

	snprintf(name, sizeof(name), "%s/bin/litifut-post", build ? build : "build");
	program = realpath(name, NULL);
	if (!program || !mkdtemp(post_folder)) {
		free(program);
		return false;
	}
	snprintf(post_link, sizeof(post_link), "%s/litifut-post", post_folder);
	linked = !symlink(program, post_link);
	free(program);
	return linked;
}

static int build_it(void **state)
{
	(void)state;
	if (!link_post())
		return -1;
	for (size_t i = 0; i < FIXTURE_TARGETS && !built; i++)
		built = fixture_build(&fixture, &fixture_targets[i]);
	if (built)
		fixture_write_traces(&fixture, false);
	return 0;
}

static int remove_it(void **state)
{
	(void)state;
	unlink(post_link);
	rmdir(post_folder);
	if (built)
		fixture_remove(&fixture);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(wrong_usage_is_2),
		cmocka_unit_test(calls_begin_and_end_a_part),
		cmocka_unit_test(problems_are_1_and_told),
		cmocka_unit_test(summary_goes_to_standard_error),
		cmocka_unit_test(nothing_is_ignored_silently),
		cmocka_unit_test(packed_traces_read_the_same),
		cmocka_unit_test(a_database_answers_questions),
		cmocka_unit_test(an_output_is_whole_or_not_there),
		cmocka_unit_test(a_closed_pipe_is_not_a_failure),
		cmocka_unit_test(an_input_is_not_overwritten),
		cmocka_unit_test(a_link_leads_to_the_output),
		cmocka_unit_test(unpacking_is_bounded),
		cmocka_unit_test(diff_tells_new_gone_and_changed),
		cmocka_unit_test(calls_and_returns_are_told_apart),
		cmocka_unit_test(a_trace_of_paths_without_paths),
		cmocka_unit_test(a_trace_without_calls),
		cmocka_unit_test(copies_count_once),
		cmocka_unit_test(a_file_named_twice_counts_once),
		cmocka_unit_test(files_of_one_build_add_up),
		cmocka_unit_test(ways_to_ask_for_callers),
		cmocka_unit_test(maps_place_other_modules),
		cmocka_unit_test(json_is_of_one_piece),
		cmocka_unit_test(a_terminal_gets_color_and_a_pager),
		cmocka_unit_test(long_work_shows_progress),
	};
	return cmocka_run_group_tests_name("post: program", tests, build_it, remove_it);
}
