/* gdb: a script that runs the program again and stops at each recorded line, in order. Breakpoints
 * are at all lines that occur, so that a run which goes another way is noticed at the next one. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <litifut/module_format.h>

#include "postproc/formats/format.h"
#include "postproc/paths/instructions.h"
#include "postproc/paths/lines.h"
#include "postproc/paths/program.h"
#include "postproc/paths/walk.h"

#define STOPS_USUAL 10000

struct stop {
	uint32_t address;
	const struct post_path_line *line;
};

/* Those of a block. */
struct block_stops {
	struct stop *items;
	size_t count;
	bool known;
};

struct script {
	struct post_session *session;
	const struct post_image *image; /* of the program */
	uint32_t module;
	uint8_t *plain;
	struct post_path_line_table *lines;
	struct block_stops *blocks;
	struct stop *stops;
	size_t count, capacity;
	uint64_t most, seen;
	uint32_t thread; /* the first one */
	bool begun, ended;
	uint64_t others; /* blocks of other threads */
};

/* A debugger can stop at the start of a line unless that is in an IT block or a delay slot. */
static void find_stops(struct script *script, const struct post_path_code *code, uint32_t block)
{
	struct block_stops *stops = &script->blocks[block];
	const struct post_path_lines *lines =
		post_path_lines(script->lines, script->session, code, block);
	size_t count, next = 0;
	struct post_path_instruction *list = post_path_instructions(
		script->image, script->plain, &code->blocks[block].block, &count);

	stops->known = true;
	stops->items = post_allocate(lines->count, sizeof(*stops->items));
	for (uint32_t i = 0; list && i < lines->count; i++) {
		while (next < count && list[next].address < lines->items[i].address)
			next++;
		if (lines->items[i].file && next < count &&
		    list[next].address == lines->items[i].address && !list[next].in_it_block &&
		    !list[next].in_slot)
			stops->items[stops->count++] =
				(struct stop){list[next].address, &lines->items[i]};
	}
	free(list);
}

static void take(void *context, const struct post_path_step *step)
{
	struct script *script = context;
	const struct block_stops *stops;

	if (!script->begun && step->kind == POST_PATH_BLOCK) {
		script->begun = true;
		script->thread = step->thread;
	}
	if (script->ended || (step->kind != POST_PATH_BLOCK && step->kind != POST_PATH_GAP))
		return;
	if (step->thread != script->thread) {
		script->others++;
		return;
	}
	if (step->kind == POST_PATH_GAP) { /* the beginning is needed */
		script->ended = true;
		return;
	}
	if (step->code->module != script->module)
		return;
	if (!script->blocks[step->block].known)
		find_stops(script, step->code, step->block);
	stops = &script->blocks[step->block];
	for (size_t i = 0; i < stops->count; i++) {
		if (script->seen++ >= script->most)
			continue;
		POST_GROW(script->stops, script->count, script->capacity);
		script->stops[script->count++] = stops->items[i];
	}
}

static int by_address(const void *left, const void *right)
{
	const struct stop *a = left, *b = right;

	return a->address < b->address ? -1 : a->address > b->address;
}

static void write_breakpoints(FILE *file, const struct script *script)
{
	struct stop *sorted = post_allocate(script->count + 1, sizeof(*sorted));

	if (script->count) /* else there is no array */
		memcpy(sorted, script->stops, script->count * sizeof(*sorted));
	qsort(sorted, script->count, sizeof(*sorted), by_address);
	for (size_t i = 0; i < script->count; i++)
		if (!i || sorted[i].address != sorted[i - 1].address)
			fprintf(file, "break *($litifut_bias + 0x%" PRIx32 ")%s\n",
				sorted[i].address, script->others ? " thread 1" : "");
	free(sorted);
}

static const char head[] = "set pagination off\n"
			   "set confirm off\n"
			   "set print frame-arguments none\n"
			   "set breakpoint always-inserted on\n"
			   "handle all nostop noprint pass\n"
			   "handle SIGTRAP stop\n";

/* gdb prints where it stops, each time. */
static const char commands[] =
	"define litifut_next\n"
	"  continue\n"
	"  if $_isvoid($pc)\n"
	"    printf \"record %d: the program has ended, and was to come to 0x%x\\n\", $arg1, "
	"$arg0\n"
	"    quit 1\n"
	"  end\n"
	"  if (unsigned int)$pc != $litifut_bias + $arg0\n"
	"    printf \"record %d: the program is at 0x%x, and was to come to 0x%x\\n\", $arg1, "
	"(unsigned int)$pc - $litifut_bias, $arg0\n"
	"    quit 1\n"
	"  end\n"
	"end\n";

static void write_script(struct post_output *output, const struct script *script,
			 const struct post_symbol *start)
{
	FILE *file = output->file;
	const char *name = script->session->modules[script->module].name;

	fprintf(file,
		"# Stops %s at each line that it has executed in a run, in order.\n"
		"#   litifut-post path-plain -o plain %s\n"
		"#   qemu-CPU (arm, mips or mipsel) -g 1234 ./plain ARGUMENTS, or gdbserver :1234 "
		"./plain ARGUMENTS\n"
		"#   gdb-multiarch -ex 'target remote :1234' -x THIS plain\n",
		name, name);
	fputs(head, file);
	fprintf(file, "set $litifut_bias = (unsigned int)&%s - 0x%" PRIx32 "\n", start->name,
		start->address);
	write_breakpoints(file, script);
	fputs(commands, file);
	for (size_t i = 0; i < script->count; i++)
		fprintf(file, "litifut_next 0x%" PRIx32 " %zu\n", script->stops[i].address, i + 1);
	fprintf(file, "delete\nprintf \"all %zu records were replayed\\n\"\n", script->count);
}

/* The program among the modules of a process; POST_NONE: it was not recorded. */
static uint32_t find_program(struct post_session *session, struct post_process *process)
{
	for (size_t i = 0; i < process->trace->module_count; i++) {
		const struct litifut_module_record *record = &process->trace->modules[i].record;

		if (record->flags & LITIFUT_MODULE_EXECUTABLE)
			return post_modules_recorded(session, process, record);
	}
	return POST_NONE;
}

static struct post_process *first_process(const struct post_session *session)
{
	for (size_t i = 0; i < session->process_count; i++)
		if (session->processes[i]->trace && session->processes[i]->trace->bits_count)
			return session->processes[i];
	return NULL;
}

/* A function of which a program has one only; NULL: the file has no symbols. */
static const struct post_symbol *find_start(const struct post_image *image)
{
	static const char *const names[] = {"_start", "__start", "main"};

	for (size_t n = 0; image && n < sizeof(names) / sizeof(*names); n++)
		for (size_t i = 0; i < image->symbols.count; i++)
			if (!strcmp(image->symbols.items[i].name, names[n]))
				return &image->symbols.items[i];
	return NULL;
}

static void make_script(struct post_output *output, struct script *script,
			struct post_process *process)
{
	struct post_session *session = output->session;
	struct post_path_codes codes = {0};
	const struct post_path_code *code = post_path_code(&codes, session, script->module);
	const struct post_symbol *start;

	script->image = session->modules[script->module].image;
	start = find_start(script->image);
	if (start) {
		script->plain = path_program_plain(script->image);
		script->blocks = post_allocate(code->count + 1, sizeof(*script->blocks));
		post_paths_walk(session, process, &codes, take, script,
				&(struct post_path_totals){0});
		write_script(output, script, start);
	} else {
		post_problem_at(
			session->problems, session->modules[script->module].name,
			LITIFUT_NO_ADDRESS,
			"the ELF file with its symbols is needed: from that of main follows "
			"where the program is loaded");
	}
	for (size_t i = 0; script->blocks && i < code->count; i++)
		free(script->blocks[i].items);
	post_path_codes_release(&codes);
}

static void finish(struct post_output *output)
{
	struct post_session *session = output->session;
	struct post_process *process = first_process(session);
	struct post_path_line_table lines = {0};
	struct script script = {
		.session = session,
		.lines = &lines,
		.most = output->options.top ? output->options.top : STOPS_USUAL,
	};

	script.module = process ? find_program(session, process) : POST_NONE;
	if (script.module != POST_NONE)
		make_script(output, &script, process);
	else if (session->process_count)
		post_session_none_says(session, "in which order code of a program was executed",
				       1u << LITIFUT_MODE_PATHS, "paths");
	if (script.seen > script.most)
		post_note_at(session->problems, NULL, LITIFUT_NO_ADDRESS,
			     "%" PRIu64 " of %" PRIu64 " lines are in the script: see --top",
			     script.most, script.seen);
	post_path_lines_release(&lines);
	free(script.plain);
	free(script.blocks);
	free(script.stops);
}

const struct post_format post_format_gdb = {
	.name = "gdb",
	.summary = "a script for gdb: the program again, a stop at each line (LITIFUT_MODE=paths)",
	.uses = POST_USES_TOP,
	.flags = true,
	.finish = finish,
};
