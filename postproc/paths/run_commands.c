/* litifut-post path-plain, path-sizes and mine: what needs a run of the program. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "postproc/paths/command_private.h"
#include "postproc/paths/mined.h"
#include "postproc/paths/sizes.h"
#include "postproc/paths/traced.h"
#include "postproc/table.h"

/* Gives the mode bits of the original file to the copy; other than regular files stay as they are.
 */
static void make_executable(FILE *file)
{
	struct stat about;

	if (!fstat(fileno(file), &about) && S_ISREG(about.st_mode))
		fchmod(fileno(file), about.st_mode | (about.st_mode & 0444) >> 2);
}

/* The program with its branches as they were. */
int path_plain_run(FILE *file, const struct path_arguments *given)
{
	struct post_image *image;
	struct path_program program;
	struct litifut_error error;
	int status = 1;

	if (given->path_count != 1)
		return path_usage(given, "one ELF file is needed", NULL);
	image = path_open_image(given, given->paths[0]);
	if (!image)
		return 1;
	if (path_program_make(image, NULL, &program, &error) == LITIFUT_OK) {
		uint8_t *plain = path_program_plain(image);

		if (isatty(fileno(file)))
			status = path_usage(given, "-o FILE is missing: not for a terminal is",
					    "ELF");
		else
			status = fwrite(plain, 1, image->file.size, file) != image->file.size;
		free(plain);
		make_executable(file);
	} else {
		path_problem(given, &error);
	}
	path_program_release(&program);
	post_image_close(image);
	return status;
}

/* A run of a program: its graph, what was executed, and both kinds of numbers. */
struct run {
	const struct path_arguments *given;
	struct post_image *image;    /* of a log */
	struct post_session session; /* of traces */
	struct post_problems problems;
	struct path_program program;
	struct path_executed executed;
	struct path_numbers numbers[2]; /* intraprocedural, interprocedural */
	struct path_replay replays[2];
};

/* Functions that a pointer has entered, of which the file does not say it, are found here. */
static void replay(struct run *run, bool interprocedural, unsigned id_bits)
{
	const struct path_options how = {interprocedural, id_bits};
	struct path_numbers *numbers = &run->numbers[interprocedural];
	struct path_replay *result = &run->replays[interprocedural];

	do {
		path_numbers_release(numbers);
		path_replay_release(result);
		if (!path_numbers_make(&run->program.graph.flow, &how, numbers))
			post_out_of_memory();
		path_replay_run(&run->program, &run->program.graph.flow, numbers, &run->executed,
				result);
	} while (result->again);
}

static void close_run(struct run *run)
{
	for (size_t i = 0; i < 2; i++) {
		path_numbers_release(&run->numbers[i]);
		path_replay_release(&run->replays[i]);
	}
	path_executed_release(&run->executed);
	path_program_release(&run->program);
	if (run->image)
		post_image_close(run->image);
	else
		post_session_close(&run->session);
	post_problems_release(&run->problems);
}

static void print_problem(void *context, const struct litifut_error *error)
{
	const struct run *run = context;

	path_problem(run->given, error);
}

/* Is it text? Traces and ELF files have zero bytes at their starts. */
static bool is_log(const char *path)
{
	char start[64];
	struct stat about;
	FILE *file = fopen(path, "re");
	size_t size = 0;

	if (!file)
		return false;
	if (!fstat(fileno(file), &about) && S_ISREG(about.st_mode))
		size = fread(start, 1, sizeof(start), file);
	fclose(file);
	return size && !memchr(start, 0, size);
}

/* Both return the exit status. */
static int read_log(const struct path_arguments *given, struct run *run)
{
	struct litifut_error error;

	run->image = path_open_image(given, given->paths[0]);
	if (!run->image)
		return 1;
	if (path_program_make(run->image, (const char *const *)given->only, &run->program,
			      &error) != LITIFUT_OK ||
	    path_executed_read(given->paths[1], &run->program, &run->executed, &error) !=
		    LITIFUT_OK)
		return path_problem(given, &error);
	return 0;
}

static int read_traces(const struct path_arguments *given, struct run *run)
{
	const struct post_image *image;
	struct litifut_error error;

	run->problems.report = print_problem;
	run->problems.context = run;
	run->session.problems = &run->problems;
	run->session.options.demangle = true;
	run->session.options.maps_paths = true;
	for (size_t i = 0; i < given->path_count; i++)
		post_inputs_add(&run->session.inputs, given->paths[i], &run->problems);
	post_inputs_finish(&run->session.inputs, &run->problems);
	post_session_open(&run->session);
	image = path_traced_image(&run->session);
	if (!image) {
		if (!run->problems.count)
			fprintf(stderr,
				"litifut-post %s: no trace says in which order code was executed: "
				"link with LITIFUT_MODE=paths\n",
				given->name);
		return 1;
	}
	if (path_program_make(image, (const char *const *)given->only, &run->program, &error) !=
	    LITIFUT_OK)
		return path_problem(given, &error);
	path_traced_read(&run->session, &run->program, &run->executed);
	return run->problems.count ? 1 : 0;
}

/* Returns the exit status. */
static int open_run(const struct path_arguments *given, struct run *run)
{
	int status;

	*run = (struct run){.given = given};
	if (given->path_count < 2)
		return path_usage(
			given, "traces and their program are needed, or a program and a log", NULL);
	status = given->path_count == 2 && is_log(given->paths[1]) ? read_log(given, run)
								   : read_traces(given, run);
	if (run->program.graph.flow.function_count && run->executed.lane_count) {
		replay(run, true, given->id_bits);
		replay(run, false, given->id_bits);
	}
	return status;
}

static void describe(const struct path_arguments *given, const struct run *run)
{
	const struct path_replay *whole = &run->replays[1];
	uint64_t activations = 0;

	for (size_t i = 0; i < run->program.graph.flow.function_count; i++)
		activations += whole->activations[i];
	fprintf(stderr,
		"litifut-post %s: %zu conditional branches and %" PRIu64 " jumps in %" PRIu64
		" activations, %" PRIu64 " of them not by a call that the graph names; %" PRIu64
		" cut, %" PRIu64 " open at the end, %zu lane%s\n",
		given->name, whole->branch_count, whole->jumps, activations, whole->entered_unknown,
		whole->cut, whole->open, run->executed.lane_count,
		run->executed.lane_count == 1 ? "" : "s");
	for (size_t i = 0; i < 2; i++)
		fprintf(stderr,
			"litifut-post %s: %s: %" PRIu64
			" paths, whose numbers give what was executed\n",
			given->name, i ? "interprocedural" : "intraprocedural",
			run->replays[i].equal);
	if (whole->outside)
		fprintf(stderr,
			"litifut-post %s: nothing in the graph leads to %" PRIu64
			" of the blocks that were executed\n",
			given->name, whole->outside);
}

/* Numbers that do not give the path again are a fault of this program. */
static int check(const struct path_arguments *given, const struct run *run)
{
	const uint64_t different = run->replays[0].different + run->replays[1].different;

	if (!different)
		return 0;
	fprintf(stderr, "litifut-post %s: %s: the numbers of %" PRIu64 " paths give other paths\n",
		given->name, given->paths[1], different);
	return 1;
}

struct table {
	FILE *file;
	uint64_t branches;
};

/* `of`: the size that it is compared with, in bits; 0: none. */
static void write_size(const struct table *table, const char *name, uint64_t bits, uint64_t of)
{
	fprintf(table->file, "%12" PRIu64 " %10.3f ", (bits + 7) / 8,
		table->branches ? (double)bits / (double)table->branches : 0);
	if (of)
		fprintf(table->file, "%8.2f", (double)bits / (double)of);
	else
		fprintf(table->file, "%8s", "-");
	fprintf(table->file, "  %s\n", name);
}

static void write_sizes(FILE *file, const struct run *run)
{
	struct path_pattern patterns[PATH_MOST_PATTERNS];
	struct path_entries entries;
	struct path_sizes sizes;
	struct table table;

	path_sizes_make(&run->program.graph.flow, run->numbers, run->replays, &sizes);
	path_entries_make(&run->numbers[1], &run->replays[1], &entries);
	const size_t found = path_mine(entries.items, entries.count, patterns, PATH_MOST_PATTERNS);
	table = (struct table){file, sizes.branches};
	fprintf(file, "%12s %10s %8s  %s\n", "BYTES", "BITS/BR.", "FACTOR", "ENCODING");
	write_size(&table, "branches, one bit each", sizes.branches, sizes.tiny_variable);
	write_size(&table, "branches, jumps and unknown callees",
		   sizes.branches + sizes.jumps + sizes.unknown, sizes.tiny_variable);
	write_size(&table, "branches, predicted with 128 bytes", sizes.predicted[0],
		   sizes.tiny_variable);
	write_size(&table, "branches, predicted with 512 bytes", sizes.predicted[1],
		   sizes.tiny_variable);
	write_size(&table, "branches, predicted with 8 KB", sizes.predicted[2],
		   sizes.tiny_variable);
	write_size(&table, "TinyTracer-var", sizes.tiny_variable, sizes.tiny_variable);
	write_size(&table, "NodeMD*-var", sizes.node_md_variable, sizes.tiny_variable);
	write_size(&table, "LIS-local", sizes.lis_local, sizes.tiny_variable);
	write_size(&table, "LIS-global", sizes.lis_global, sizes.tiny_variable);
	write_size(&table, "TinyTracer", sizes.tiny, sizes.tiny);
	write_size(&table, "NodeMD*", sizes.node_md, sizes.tiny);
	for (unsigned bits = PATH_MR_FIRST; bits <= PATH_MR_LAST; bits++) {
		char name[40];

		snprintf(name, sizeof(name), "Melski-Reps, %u bits", bits);
		if (bits == 17 || bits == 20 || bits == 24 || bits == 32)
			write_size(&table, name, sizes.melski_reps[bits - PATH_MR_FIRST],
				   sizes.tiny);
	}
	write_size(&table, "TinyTracer, 2 patterns, run lengths",
		   8 * path_pattern_bytes(entries.items, entries.count, patterns,
					  found < 2 ? found : 2),
		   sizes.tiny);
	write_size(&table, "TinyTracer, 16 patterns, run lengths",
		   8 * path_pattern_bytes(entries.items, entries.count, patterns, found),
		   sizes.tiny);
	write_size(&table, "TinyTracer, LZW", 8 * path_lzw_bytes(entries.items, entries.count),
		   sizes.tiny);
	write_size(&table, "TinyTracer, Sequitur",
		   8 * path_sequitur_bytes(entries.items, entries.count), sizes.tiny);
	free(entries.items);
}

/* Which functions make the sequence long. */
static void write_functions(FILE *file, const struct path_arguments *given, const struct run *run)
{
	const struct path_flow *flow = &run->program.graph.flow;
	const struct path_replay *whole = &run->replays[1];
	struct path_row *rows = post_allocate(flow->function_count + 1, sizeof(*rows));

	for (uint32_t i = 0; i < flow->function_count; i++)
		rows[i].function = i;
	for (size_t i = 0; i < whole->token_count; i++)
		rows[whole->tokens[i].function].paths +=
			path_token_bits(&run->numbers[1], &whole->tokens[i]);
	qsort(rows, flow->function_count, sizeof(*rows), path_by_paths);
	fprintf(file, "\n%12s %12s %12s %-9s %s\n", "BYTES", "ACTIVATIONS", "DECISIONS", "APART",
		"FUNCTION, TINYTRACER-VAR");
	for (size_t i = 0; i < flow->function_count && i < given->top && rows[i].paths; i++) {
		const uint32_t f = rows[i].function;

		fprintf(file, "%12" PRIu64 " %12" PRIu64 " %12" PRIu64 " %-9s %s\n",
			(rows[i].paths + 7) / 8, whole->activations[f], whole->decisions[f],
			path_reason_text(run->numbers[1].functions[f].reasons),
			run->program.names[f]);
	}
	free(rows);
}

int path_sizes_run(FILE *file, const struct path_arguments *given)
{
	struct run run;
	int status = open_run(given, &run);

	if (run.replays[1].activations) { /* also of a trace with damage */
		write_sizes(file, &run);
		if (given->top)
			write_functions(file, given, &run);
		if (!given->quiet)
			describe(given, &run);
		status |= check(given, &run);
	}
	close_run(&run);
	return status;
}

static void write_patterns(FILE *file, const struct path_arguments *given, const struct run *run)
{
	struct path_pattern patterns[PATH_MOST_PATTERNS];
	struct path_entries entries;

	path_entries_make(&run->numbers[1], &run->replays[1], &entries);
	const size_t found = path_mine(entries.items, entries.count, patterns, given->patterns);
	const uint64_t bytes = path_pattern_bytes(entries.items, entries.count, patterns, found);

	fprintf(file, "%3s %10s %6s  %s\n", "", "USES", "LENGTH", "ENTRIES (Pn: pattern n)");
	for (size_t i = 0; i < found; i++) {
		fprintf(file, "%3zu %10" PRIu64 " %6u ", i, patterns[i].uses, patterns[i].count);
		for (unsigned j = 0; j < patterns[i].count; j++) {
			const uint32_t entry = patterns[i].entries[j];

			fprintf(file, entry < PATH_SYMBOL(0) ? " %04x" : " P%u",
				entry < PATH_SYMBOL(0) ? entry : entry - PATH_SYMBOL(0));
		}
		fputc('\n', file);
	}
	if (!given->quiet)
		fprintf(stderr,
			"litifut-post mine: %zu bytes become %" PRIu64
			" with them and run lengths, in buffers of %u bytes\n",
			2 * entries.count, bytes, 2 * PATH_BUFFER_ENTRIES);
	free(entries.items);
}

int path_mine_run(FILE *file, const struct path_arguments *given)
{
	struct run run;
	int status = open_run(given, &run);
	const struct post_image *mined = run.image ? NULL : path_mined_image(&run.session);

	if (mined) {
		const size_t found =
			path_mined_patterns(&run.session, mined, given->patterns, file);

		if (!given->quiet)
			fprintf(stderr, "litifut-post mine: %zu patterns for LITIFUT_PATTERNS\n",
				found);
	} else if (run.replays[1].activations) {
		write_patterns(file, given, &run);
	}
	if (run.replays[1].activations)
		status |= check(given, &run);
	close_run(&run);
	return status;
}
