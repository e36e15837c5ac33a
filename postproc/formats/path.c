/* path: the source lines in the order in which they were executed, indented by call; blocks: a line
 * for each block of code, for programs. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "postproc/formats/format.h"
#include "postproc/model/lines.h"
#include "postproc/paths/walk.h"

#define DEEPEST_INDENT 40

/* A line that is to be printed. */
struct line {
	uint32_t thread;
	uint32_t depth;
	uint32_t module;
	uint32_t address; /* 0: a gap */
	uint64_t process;
};

struct path {
	struct post_output *output;
	const struct post_process *process;
	struct line last;
	/* With --last: the latest ones, in a ring. */
	struct line *kept;
	size_t most, count;
};

static const char *name_of(struct post_session *session, uint32_t module, uint32_t address)
{
	const uint32_t function = post_session_function(session, module, address);

	return session->functions[function].name; /* the array may have moved */
}

static void print(struct path *path, const struct line *line)
{
	struct post_session *session = path->output->session;
	FILE *file = path->output->file;
	const int indent = 2 * (int)(line->depth > DEEPEST_INDENT ? DEEPEST_INDENT : line->depth);
	const char *source = NULL;
	unsigned number = 0;

	if (!line->address) {
		fprintf(file, "%u\t(what comes before is not known)\n", line->thread);
		return;
	}
	if (post_lines_place(session, line->module, line->address, &source, &number))
		fprintf(file, "%u\t%*s%s %s:%u\n", line->thread, indent, "",
			name_of(session, line->module, line->address), source, number);
	else
		fprintf(file, "%u\t%*s%s 0x%x\n", line->thread, indent, "",
			name_of(session, line->module, line->address), line->address);
}

static void give(struct path *path, const struct line *line)
{
	if (path->most)
		path->kept[path->count % path->most] = *line;
	else
		print(path, line);
	path->count++;
}

/* The lines of the block, each that differs from the one before. */
static void take_lines(void *context, const struct post_path_step *step)
{
	struct path *path = context;
	const struct post_session *session = path->output->session;
	struct line line = {.thread = step->thread, .depth = step->depth};
	const struct litifut_block *block;
	const char *last_source = NULL;
	unsigned last_number = 0;
	bool first = true;

	if (step->kind == POST_PATH_GAP)
		give(path, &line);
	if (step->kind != POST_PATH_BLOCK)
		return;
	block = &step->code->blocks[step->block].block;
	line.module = step->code->module;
	if (path->last.address && path->last.thread == line.thread &&
	    path->last.depth == line.depth && path->last.module == line.module)
		post_lines_place(session, line.module, path->last.address, &last_source,
				 &last_number);
	for (uint32_t at = block->start; at < block->end; at += 2) {
		const char *source = NULL;
		unsigned number = 0;
		const bool known =
			post_lines_place(session, line.module, at, &source, &number) && number;

		if (known ? (last_source && number == last_number && !strcmp(source, last_source))
			  : !first)
			continue;
		if (!known && last_source && !(block->flags & LITIFUT_BLOCK_FUNCTION))
			continue;
		first = false;
		line.address = at;
		give(path, &line);
		path->last = line;
		last_source = source;
		last_number = number;
	}
}

static void take_block(void *context, const struct post_path_step *step)
{
	struct path *path = context;
	struct post_session *session = path->output->session;
	const uint32_t pid = path->process->trace->header.pid;

	if (step->kind == POST_PATH_GAP)
		fprintf(path->output->file, "%u\t%u\t\tgap\t\t\n", pid, step->thread);
	if (step->kind != POST_PATH_BLOCK)
		return;
	const uint32_t start = step->code->blocks[step->block].block.start;

	fprintf(path->output->file, "%u\t%u\t%s\t0x%x\t%u\t%s\n", pid, step->thread,
		session->modules[step->code->module].name, start, step->depth,
		name_of(session, step->code->module, start));
}

static void walk(struct post_output *output,
		 void (*take)(void *context, const struct post_path_step *step), size_t most)
{
	struct post_session *session = output->session;
	struct post_path_codes codes = {0};
	struct post_path_totals totals = {0};
	size_t recorded = 0;

	for (size_t i = 0; i < session->process_count; i++) {
		struct path path = {
			.output = output, .process = session->processes[i], .most = most};

		if (!path.process->trace || !path.process->trace->bits_count)
			continue;
		recorded++;
		if (most)
			path.kept = post_allocate(most, sizeof(*path.kept));
		post_paths_walk(session, path.process, &codes, take, &path, &totals);
		for (size_t j = path.count > most ? path.count - most : 0; most && j < path.count;
		     j++)
			print(&path, &path.kept[j % most]);
		free(path.kept);
	}
	if (!recorded && session->process_count)
		post_problem_at(session->problems, NULL, LITIFUT_NO_ADDRESS,
				"no trace says in which order code was executed: link with "
				"LITIFUT_MODE=paths");
	post_path_codes_release(&codes);
}

static void finish_lines(struct post_output *output)
{
	walk(output, take_lines, output->options.last);
}

const struct post_format post_format_path = {
	.name = "path",
	.summary = "source lines in the order executed, by call (LITIFUT_MODE=paths)",
	.uses = POST_USES_LAST,
	.flags = true,
	.finish = finish_lines,
};

static void finish_blocks(struct post_output *output)
{
	fputs("pid\ttid\tmodule\taddress\tdepth\tfunction\n", output->file);
	walk(output, take_block, 0);
}

const struct post_format post_format_blocks = {
	.name = "blocks",
	.summary = "a line for each executed block of code, in order (LITIFUT_MODE=paths)",
	.flags = true,
	.finish = finish_blocks,
};
