/* Which code was executed, in a report. */
#include "postproc/formats/html/code.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "postproc/formats/text.h"
#include "postproc/measure/coverage.h"
#include "postproc/paths/instructions.h"
#include "postproc/paths/lines.h"
#include "postproc/paths/program.h"
#include "postproc/paths/walk.h"
#include "postproc/timeline/timeline.h"

#define LAST_BLOCKS 1000u /* of a thread: what led to its end */
#define MOST_THREADS 64u

/* A function. */
struct row {
	uint32_t function; /* of the session */
	uint8_t state;     /* enum post_coverage_state */
	unsigned branches, ways;
	uint64_t times, instructions; /* executed; 0 where paths are not recorded */
	uint32_t file;
	unsigned line;
};

/* The last blocks of a thread, in a ring. */
struct tail {
	uint32_t process, thread;
	uint64_t count;
	struct post_path_step steps[LAST_BLOCKS];
};

struct code {
	struct post_html_page *page;
	struct row *rows;
	size_t row_count, row_capacity;
	uint32_t **row_of; /* by the number of a module, and of a block in it */
	size_t module_count;
	struct post_path_codes codes;
	struct post_path_line_table lines;
	uint32_t process; /* that is walked */
	struct tail **tails;
	size_t tail_count, tail_capacity, left_out;
};

/* Counts the lines that have code in a block. Returns the file of the first, POST_NONE if it is not
 * known, and its line in *line. */
static uint32_t count_lines(struct code *code, const struct post_covered_module *module,
			    const struct post_covered_block *block, unsigned *line)
{
	const struct litifut_block *about = &block->block;
	uint32_t first = POST_NONE;

	*line = 0;
	if (!code->page->output->session->options.lines || block->state == POST_NOT_KNOWN)
		return POST_NONE;
	for (uint32_t at = about->start; at < about->end; at += 2) {
		const bool branches = at == about->branch && post_coverage_is_branch(block);
		const struct post_html_counts counts = {
			.has_code = true,
			.executed = block->state == POST_EXECUTED,
			.times = block->times,
			.branches = branches ? 2 : 0,
			.ways = branches ? block->taken + block->passed : 0,
		};
		unsigned number;
		const uint32_t file = post_html_sources_count(code->page->sources, module->module,
							      at, &counts, &number);

		if (at == about->start) {
			first = file;
			*line = number;
		}
	}
	return first;
}

/* How many instructions were executed in a block, calls from it not included. */
static uint64_t executed_in(const struct post_covered_module *module,
			    const struct post_covered_block *block, const uint8_t *plain)
{
	size_t count = 0;

	if (!block->times || !plain)
		return 0;
	free(post_path_instructions(module->image, plain, &block->block, &count));
	return block->times * count;
}

static void add_module(struct code *code, const struct post_covered_module *module)
{
	struct post_session *session = code->page->output->session;
	struct post_covered_function function = {0};
	uint8_t *plain = module->walked ? path_program_plain(module->image) : NULL;
	uint32_t *row_of = post_allocate(module->count + 1, sizeof(*row_of));

	POST_WIDEN(code->row_of, code->module_count, module->module, session->module_count);
	code->row_of[module->module] = row_of;
	memset(row_of, 0xff, module->count * sizeof(*row_of));
	while (post_coverage_function(module, function.end, &function)) {
		const struct post_covered_block *block = &module->blocks[function.first];
		struct row row = {
			.function =
				post_session_function(session, module->module, block->block.start),
			.state = block->state,
			.branches = function.branches,
			.ways = function.ways,
			.times = block->times,
		};
		unsigned line;

		row.file = count_lines(code, module, block, &row.line);
		for (size_t i = function.first + 1; i < function.end; i++)
			count_lines(code, module, &module->blocks[i], &line);
		for (size_t i = function.first; i < function.end; i++) {
			row_of[i] = (uint32_t)code->row_count;
			row.instructions += executed_in(module, &module->blocks[i], plain);
		}
		POST_GROW(code->rows, code->row_count, code->row_capacity);
		code->rows[code->row_count++] = row;
	}
	free(plain);
}

static void take_step(void *context, const struct post_path_step *step)
{
	struct code *code = context;
	struct tail *tail = NULL;

	if (step->kind != POST_PATH_BLOCK && step->kind != POST_PATH_GAP)
		return;
	for (size_t i = code->tail_count; i-- > 0 && !tail;)
		if (code->tails[i]->process == code->process &&
		    code->tails[i]->thread == step->thread)
			tail = code->tails[i];
	if (!tail && code->tail_count == MOST_THREADS) {
		code->left_out++;
		return;
	}
	if (!tail) {
		POST_GROW(code->tails, code->tail_count, code->tail_capacity);
		tail = code->tails[code->tail_count++] = post_allocate(1, sizeof(*tail));
		tail->process = code->process;
		tail->thread = step->thread;
	}
	tail->steps[tail->count++ % LAST_BLOCKS] = *step;
}

#define WRITE_COLUMN(name, format, value)                                                          \
	do {                                                                                       \
		fputs(",\n\"" name "\":[", file);                                                  \
		for (size_t i = 0; i < code->row_count; i++)                                       \
			fprintf(file, "%s" format, i ? "," : "", value);                           \
		putc(']', file);                                                                   \
	} while (0)

static void write_functions(const struct code *code)
{
	const struct post_session *session = code->page->output->session;
	FILE *file = code->page->output->file;

	fputs("\"code\":{\"name\":[", file);
	for (size_t i = 0; i < code->row_count; i++) {
		fputs(i ? ",\n" : "", file);
		post_write_json_text(file, session->functions[code->rows[i].function].name);
	}
	putc(']', file);
	WRITE_COLUMN("module", "%u", session->functions[code->rows[i].function].module);
	WRITE_COLUMN("state", "%u", code->rows[i].state);
	WRITE_COLUMN("branches", "%u", code->rows[i].branches);
	WRITE_COLUMN("ways", "%u", code->rows[i].ways);
	WRITE_COLUMN("times", "%" PRIu64, code->rows[i].times);
	WRITE_COLUMN("instructions", "%" PRIu64, code->rows[i].instructions);
	WRITE_COLUMN("file", "%d", (int)code->rows[i].file);
	WRITE_COLUMN("line", "%u", code->rows[i].line);
}

/* One step as the lines of its block: depth, function, file and line of each; a gap has none. */
static void write_step(struct code *code, const struct post_path_step *step, const char *comma)
{
	struct post_session *session = code->page->output->session;
	FILE *file = code->page->output->file;
	const struct post_path_lines *lines;

	if (step->kind == POST_PATH_GAP) {
		fprintf(file, "%s[%u]", comma, step->depth);
		return;
	}
	const uint32_t module = step->code->module;
	const bool known = module < code->module_count && code->row_of[module];

	lines = post_path_lines(&code->lines, session, step->code, step->block);
	for (uint32_t i = 0; i < lines->count; i++) {
		unsigned line;
		const uint32_t number = post_html_sources_count(
			code->page->sources, module, lines->items[i].address,
			&(struct post_html_counts){0}, &line);

		fprintf(file, "%s[%u,%d,%d,%u]", comma, step->depth,
			known ? (int)code->row_of[module][step->block] : -1, (int)number, line);
		comma = ",";
	}
}

static void write_tails(struct code *code)
{
	const struct post_session *session = code->page->output->session;
	FILE *file = code->page->output->file;

	fputs(",\n\"ends\":[", file);
	for (size_t i = 0; i < code->tail_count; i++) {
		const struct tail *tail = code->tails[i];
		const struct litifut_trace_header *header =
			&session->processes[tail->process]->trace->header;
		const uint64_t first = tail->count > LAST_BLOCKS ? tail->count - LAST_BLOCKS : 0;
		char name[128];

		snprintf(name, sizeof(name), "%s %u, thread %u", header->program, header->pid,
			 tail->thread);
		fprintf(file, "%s\n{\"name\":", i ? "," : "");
		post_write_json_text(file, name);
		fprintf(file, ",\"blocks\":%" PRIu64 ",\"steps\":[", tail->count);
		for (uint64_t at = first; at < tail->count; at++)
			write_step(code, &tail->steps[at % LAST_BLOCKS], at > first ? "," : "");
		fputs("]}", file);
	}
	fprintf(file, "],\"blocks_left_out\":%zu},\n", code->left_out);
}

void post_html_code_write(struct post_html_page *page)
{
	struct post_session *session = page->output->session;
	struct code code = {.page = page};
	struct post_coverage coverage;

	if (!page->output->totals->covered) {
		fputs("\"code\":null,\n", page->output->file);
		return;
	}
	post_coverage_collect(session, &coverage);
	for (size_t i = 0; i < coverage.count; i++)
		add_module(&code, &coverage.modules[i]);
	for (size_t i = 0; i < session->process_count; i++) {
		code.process = (uint32_t)i;
		if (session->processes[i]->trace && session->processes[i]->trace->bits_count)
			post_paths_walk(session, session->processes[i], &code.codes, take_step,
					&code, &(struct post_path_totals){0});
	}
	write_functions(&code);
	write_tails(&code);
	for (size_t i = 0; i < code.module_count; i++)
		free(code.row_of[i]);
	for (size_t i = 0; i < code.tail_count; i++)
		free(code.tails[i]);
	free(code.row_of);
	free(code.tails);
	free(code.rows);
	post_path_lines_release(&code.lines);
	post_path_codes_release(&code.codes);
	post_coverage_release(&coverage);
}
