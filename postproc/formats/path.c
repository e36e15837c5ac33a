/* path: the source lines in the order in which they were executed, indented by call; with --order
 * one timeline of several nodes. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "postproc/formats/format.h"
#include "postproc/formats/near.h"
#include "postproc/formats/nodes.h"
#include "postproc/model/lines.h"
#include "postproc/paths/activations.h"
#include "postproc/paths/steps_walk.h"
#include "postproc/paths/lines.h"
#include "postproc/paths/numbers.h"
#include "postproc/sources/bits_chunk.h"
#include "postproc/timeline/count.h"

#define DEEPEST_INDENT 40
#define MOST_THREADS 8 /* that are named where --last shows the end of one */

struct path;

/* A line that is to be printed. */
struct line {
	struct path *path;
	uint32_t thread;
	uint32_t depth;
	uint32_t module;
	struct post_path_line *what; /* NULL: a gap */
	bool possible;               /* it is not recorded that it was executed */
};

struct line_list {
	struct line *items;
	size_t count, capacity;
};

/* A thread, where single activations of a function are asked for. */
struct watched {
	uint32_t thread;
	uint64_t activations; /* so far */
	bool inside;          /* one that is to be printed, */
	uint32_t depth;       /* with so many open calls */
};

/* With --last: the latest lines, in a ring. */
struct ring {
	struct line *items;
	size_t most, count;
	size_t since_gap; /* lines */
};

/* Of a process. */
struct path {
	struct post_output *output;
	const struct post_process *process;
	const char *node; /* its name, with --order; NULL: it is not printed */
	struct ring *kept;
	struct post_path_line_table *lines;
	struct line last;
	char head[16]; /* of lines of a thread */
	uint32_t head_thread;
	struct line_list possible; /* since the last line that was executed */
	uint32_t doubted;          /* the thread of which one was printed last; 0: none was */
	/* With --function. */
	const char *globs[2]; /* its name; NULL: all is printed */
	uint64_t number;      /* of the activation in its thread; 0: all */
	struct post_path_tracker tracker;
	struct watched *watched;
	size_t watched_count, watched_capacity;
	uint64_t found; /* activations */
};

static const char *name_of(struct post_session *session, uint32_t module, uint32_t address)
{
	const uint32_t function = post_session_function(session, module, address);

	return session->functions[function].name; /* the array may have moved */
}

/* What is printed of a line each time. */
static char *text_of(struct post_session *session, uint32_t module,
		     const struct post_path_line *line)
{
	const char *name = name_of(session, module, line->address);
	char *text = NULL;

	if ((line->file ? asprintf(&text, "%s %s:%u\n", name, line->file, line->line)
			: asprintf(&text, "%s 0x%x\n", name, line->address)) < 0)
		text = post_copy_text("\n");
	return text;
}

static void print(const struct line *line)
{
	static const char blanks[2 * DEEPEST_INDENT + 1] =
		"                                                                                ";
	struct path *path = line->path;
	FILE *file = path->output->file;
	const unsigned indent = line->depth > DEEPEST_INDENT ? DEEPEST_INDENT : line->depth;

	if (path->node)
		fprintf(file, "%s\t", path->node);
	if (!line->what) {
		fprintf(file, "%u\t(what comes before is not known)\n", line->thread);
		return;
	}
	if (!line->what->text)
		line->what->text = text_of(path->output->session, line->module, line->what);
	if (line->possible && path->doubted != line->thread)
		fprintf(file,
			"%u\t(it is not recorded whether the thread came to the lines with a "
			"?)\n%s%s",
			line->thread, path->node ? path->node : "", path->node ? "\t" : "");
	path->doubted = line->possible ? line->thread : 0;
	if (path->head_thread != line->thread) {
		path->head_thread = line->thread;
		snprintf(path->head, sizeof(path->head), "%u\t", line->thread);
	}
	fputs_unlocked(path->head, file);
	fwrite_unlocked(blanks, 1, 2 * indent, file);
	if (line->possible)
		fputs_unlocked("? ", file);
	fputs_unlocked(line->what->text, file);
}

static void keep(struct ring *kept, const struct line *line)
{
	if (kept->most)
		kept->items[kept->count % kept->most] = *line;
	else
		print(line);
	kept->count++;
	kept->since_gap = line->what ? kept->since_gap + 1 : 0;
}

/* Those that are possible and last come behind the number of lines that is asked for. */
static void give(struct path *path, const struct line *line)
{
	struct line_list *possible = &path->possible;

	if (line->possible) {
		POST_GROW(possible->items, possible->count, possible->capacity);
		possible->items[possible->count++] = *line;
		return;
	}
	for (size_t i = 0; i < possible->count; i++)
		keep(path->kept, &possible->items[i]);
	possible->count = 0;
	keep(path->kept, line);
}

static struct watched *watched_thread(struct path *path, uint32_t thread)
{
	for (size_t i = path->watched_count; i-- > 0;)
		if (path->watched[i].thread == thread)
			return &path->watched[i];
	POST_GROW(path->watched, path->watched_count, path->watched_capacity);
	path->watched[path->watched_count] = (struct watched){.thread = thread};
	return &path->watched[path->watched_count++];
}

static bool begins_function(struct path *path, const struct post_path_step *step)
{
	struct post_session *session = path->output->session;
	const uint32_t start = step->code->blocks[step->block].block.start;

	return post_function_matches(session, path->globs,
				     post_session_function(session, step->code->module, start));
}

/* Is the step part of an activation that is asked for? */
static bool is_asked_for(struct path *path, const struct post_path_step *step)
{
	const bool begins = post_path_track(&path->tracker, step);
	struct watched *watched = watched_thread(path, step->thread);

	if (step->kind == POST_PATH_POSSIBLE)
		return watched->inside && step->depth >= watched->depth;
	if (watched->inside &&
	    (step->depth < watched->depth || (step->depth == watched->depth && begins)))
		watched->inside = false;
	if (step->kind == POST_PATH_GAP) {
		const bool inside = watched->inside;

		watched->inside = false;
		return inside;
	}
	if (begins)
		path->last = (struct line){0};
	if (begins && begins_function(path, step)) {
		watched->activations++;
		if (!watched->inside && (!path->number || watched->activations == path->number)) {
			watched->inside = true;
			watched->depth = step->depth;
			path->found++;
		}
	}
	return watched->inside;
}

static bool is_same_line(const struct post_path_line *a, const struct post_path_line *b)
{
	return a->line == b->line && !strcmp(a->file, b->file);
}

/* The lines of the block, each that differs from the one before. */
static void take_lines(void *context, const struct post_path_step *step)
{
	struct path *path = context;
	struct post_session *session = path->output->session;
	struct line line = {.path = path,
			    .thread = step->thread,
			    .depth = step->depth,
			    .possible = step->kind == POST_PATH_POSSIBLE};
	struct post_path_lines *lines;
	const struct post_path_line *before = NULL;

	if (step->kind == POST_PATH_TAKEN || step->kind == POST_PATH_PASSED)
		return;
	if (!post_thread_wanted(session, step->thread))
		return;
	if (path->globs[0] && !is_asked_for(path, step))
		return;
	if (step->kind == POST_PATH_GAP) {
		give(path, &line);
		return;
	}
	line.module = step->code->module;
	if (path->last.what && path->last.what->file && path->last.thread == line.thread &&
	    path->last.depth == line.depth && path->last.module == line.module &&
	    (line.possible || !path->last.possible))
		before = path->last.what;
	lines = post_path_lines(path->lines, session, step->code, step->block);
	for (uint32_t i = 0; i < lines->count; i++) {
		struct post_path_line *now = &lines->items[i];

		if (now->file ? before && is_same_line(now, before)
			      : i || (before &&
				      step->block != step->code->blocks[step->block].function))
			continue;
		line.what = now;
		give(path, &line);
		path->last = line;
		before = now->file ? now : NULL;
	}
}

/* The last lines of the process. They are in the last chunks, so the walk begins with these, and
 * farther before the end as long as it finds too few, or something that is not known. */
static void walk_end(struct path *path, struct post_path_codes *codes)
{
	struct post_session *session = path->output->session;
	struct post_problems *problems = session->problems;
	const size_t chunks = path->process->trace->bits_count;

	if (post_numbers_are_in(session, path->process)) {
		post_numbers_walk(session, path->process, codes, take_lines, path);
		return;
	}
	struct ring *kept = path->kept;
	for (size_t last = 2; kept->most && !path->globs[0] && last < chunks; last *= 8) {
		struct post_path_totals totals = {0};
		struct post_problems silent = {0};

		session->problems = &silent;
		post_paths_walk_from(session, path->process, chunks - last, codes, take_lines, path,
				     &totals);
		session->problems = problems;
		if (kept->since_gap >= kept->most && !silent.count)
			return;
		kept->count = kept->since_gap = path->possible.count = 0;
		path->last = (struct line){0};
	}
	post_paths_walk(session, path->process, codes, take_lines, path,
			&(struct post_path_totals){0});
}

/* The lines of one thread stand behind those of another, so those before a crash need not be the
 * last ones: names the threads. */
static void name_threads(struct post_output *output, const struct post_process *process)
{
	uint32_t threads[MOST_THREADS];
	const size_t count = post_bits_threads(process->trace, threads, MOST_THREADS);
	char *note = output->note;
	size_t length;

	if (count < 2 || output->session->options.tid_count)
		return;
	length = (size_t)snprintf(note, sizeof(output->note),
				  "process %u has %zu threads, whose lines stand one behind the "
				  "other; to see the last ones of one thread, add --tid with",
				  process->trace->header.pid, count);
	for (size_t i = 0; i < count && i < MOST_THREADS; i++)
		length += (size_t)snprintf(note + length, sizeof(output->note) - length, " %u",
					   threads[i]);
	if (count > MOST_THREADS)
		snprintf(note + length, sizeof(output->note) - length, " ...");
}

/* "NAME", or "NAME#3". */
static char *read_function(const char *text, uint64_t *number)
{
	const char *mark = strrchr(text, '#');
	char *end;

	*number = mark ? strtoull(mark + 1, &end, 10) : 0;
	if (!*number || *end || mark[1] < '0' || mark[1] > '9') {
		*number = 0;
		mark = NULL;
	}
	return mark ? strndup(text, (size_t)(mark - text)) : post_copy_text(text);
}

static bool has_paths(const struct post_process *process)
{
	return process->trace && process->trace->bits_count;
}

static void report_none(const struct post_session *session)
{
	post_session_none_says(session, "in which order code was executed",
			       1u << LITIFUT_MODE_PATHS, "paths");
}

/* The output is whole all the same, so this is a note and not a problem. */
static void note_lineless(struct post_output *output, const struct post_path_line_table *lines)
{
	const struct post_session *session = output->session;
	const char *first = NULL;
	size_t count = 0;

	for (size_t i = 0; i < lines->count; i++) {
		const struct post_module *module = &session->modules[i];

		if (!lines->modules[i] || !module->image || post_lines_dwarf(module->image))
			continue;
		first = first ? first : module->name;
		count++;
	}
	if (!count || *output->note)
		return;
	const char *option = post_lines_option(output->session);

	if (count == 1)
		snprintf(output->note, sizeof(output->note),
			 "%s has no debugging information, so addresses stand for its lines: "
			 "compile with %s",
			 first, option);
	else
		snprintf(output->note, sizeof(output->note),
			 "%s and %zu more have no debugging information, so addresses stand for "
			 "their lines: compile with %s",
			 first, count - 1, option);
}

static void report_not_found(const struct post_output *output, const char *name)
{
	char *none = post_near_none(output->session, name);

	post_problem_at(output->session->problems, NULL, LITIFUT_NO_ADDRESS,
			"nothing is shown: no activation of %s that was recorded from its start%s",
			output->options.function, none);
	free(none);
}

/* The end of what is printed: what --last has kept, and what is only possible behind it. */
static void print_end(struct ring *kept, struct path *paths, size_t count)
{
	for (size_t i = kept->count > kept->most ? kept->count - kept->most : 0;
	     kept->most && i < kept->count; i++)
		print(&kept->items[i % kept->most]);
	for (size_t i = 0; i < count; i++)
		for (size_t j = 0; j < paths[i].possible.count; j++)
			print(&paths[i].possible.items[j]);
	kept->count = kept->since_gap = 0;
}

static void take_lines_of_node(void *context, uint32_t process, const struct post_path_step *step)
{
	struct path *paths = context;

	take_lines(&paths[process], step);
}

/* One timeline of all processes. */
static void print_ordered(struct post_output *output, struct ring *kept, struct path *paths,
			  struct post_path_codes *codes)
{
	const size_t count = output->session->process_count;
	struct post_nodes nodes;

	post_nodes_start(&nodes, output);
	for (size_t i = 0; i < count; i++)
		paths[i].node = nodes.labels[i];
	post_nodes_walk(&nodes, codes, take_lines_of_node, paths);
	print_end(kept, paths, count);
	post_nodes_release(&nodes);
}

static void finish_lines(struct post_output *output)
{
	struct post_session *session = output->session;
	struct post_path_codes codes = {0};
	struct post_path_line_table lines = {0};
	struct ring kept = {.most = output->options.last};
	struct path *paths = post_allocate(session->process_count + 1, sizeof(*paths));
	const bool ordered = post_nodes_wanted(output);
	size_t recorded = 0, found = 0;
	uint64_t number = 0;
	char *name =
		output->options.function ? read_function(output->options.function, &number) : NULL;

	if (kept.most)
		kept.items = post_allocate(kept.most, sizeof(*kept.items));
	for (size_t i = 0; i < session->process_count; i++) {
		struct path *path = &paths[i];

		*path = (struct path){.output = output,
				      .process = session->processes[i],
				      .kept = &kept,
				      .lines = &lines,
				      .globs = {name},
				      .number = number};
		if (!has_paths(path->process))
			continue;
		recorded++;
		if (ordered)
			continue;
		walk_end(path, &codes);
		print_end(&kept, path, 1);
		if (kept.most)
			name_threads(output, path->process);
	}
	if (ordered)
		print_ordered(output, &kept, paths, &codes);
	for (size_t i = 0; i < session->process_count; i++) {
		found += paths[i].found;
		post_path_track_end(&paths[i].tracker);
		free(paths[i].watched);
		free(paths[i].possible.items);
	}
	free(paths);
	free(kept.items);
	if (!recorded && session->process_count)
		report_none(session);
	else if (name && !found)
		report_not_found(output, name);
	note_lineless(output, &lines);
	free(name);
	post_path_lines_release(&lines);
	post_path_codes_release(&codes);
}

const struct post_format post_format_path = {
	.name = "path",
	.summary = "source lines in the order executed, by call (LITIFUT_MODE=paths)",
	.uses = POST_USES_LAST | POST_USES_FUNCTION | POST_USES_ORDER,
	.flags = true,
	.finish = finish_lines,
};
