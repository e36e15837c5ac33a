#include "postproc/formats/callgrind_paths.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "postproc/paths/activations.h"
#include "postproc/paths/instructions.h"
#include "postproc/paths/lines.h"
#include "postproc/paths/program.h"

struct block_cost {
	uint32_t *instructions; /* of each of its lines; NULL: not looked up yet */
	uint32_t all;
	uint64_t executed;
};

/* Calls from a block to a function. */
struct edge {
	const struct post_path_code *caller, *callee;
	uint32_t block;    /* of the caller; POST_NONE: not known */
	uint32_t function; /* the callee's first block */
	uint64_t count, cost;
};

struct module_costs {
	const struct post_path_code *code;
	uint8_t *plain;
	struct block_cost *blocks;
};

struct profile {
	struct post_output *output;
	struct post_session *session;
	struct post_path_codes codes;
	struct post_path_line_table lines;
	struct module_costs *modules; /* by number */
	size_t module_count;
	struct post_path_tracker tracker;
	struct post_table edge_index;
	struct edge *edges;
	size_t edge_count, edge_capacity;
	const char **files; /* that were named in the output */
	size_t file_count, file_capacity;
};

/* How many instructions each line of a block has. */
static void look_up(struct profile *profile, struct module_costs *module, uint32_t block)
{
	const struct post_image *image = profile->session->modules[module->code->module].image;
	const struct litifut_block *about = &module->code->blocks[block].block;
	const struct post_path_lines *lines =
		post_path_lines(&profile->lines, profile->session, module->code, block);
	struct block_cost *cost = &module->blocks[block];
	size_t count, at = 0;
	struct post_path_instruction *list =
		post_path_instructions(image, module->plain, about, &count);

	cost->instructions = post_allocate(lines->count, sizeof(*cost->instructions));
	for (uint32_t i = 0; i < lines->count; i++) {
		const uint32_t end =
			i + 1 < lines->count ? lines->items[i + 1].address : about->end;

		for (; at < count && list[at].address < end; at++)
			cost->instructions[i]++;
	}
	cost->all = (uint32_t)count;
	free(list);
}

static struct module_costs *costs_of(struct profile *profile, const struct post_path_code *code)
{
	struct module_costs *module;

	POST_WIDEN(profile->modules, profile->module_count, code->module,
		   profile->session->module_count);
	module = &profile->modules[code->module];
	if (!module->code) {
		module->code = code;
		module->plain = path_program_plain(profile->session->modules[code->module].image);
		module->blocks = post_allocate(code->count, sizeof(*module->blocks));
	}
	return module;
}

static uint64_t cost(void *context, const struct post_path_code *code, uint32_t block)
{
	struct profile *profile = context;
	struct module_costs *module = costs_of(profile, code);

	if (!module->blocks[block].instructions)
		look_up(profile, module, block);
	module->blocks[block].executed++;
	return module->blocks[block].all;
}

/* A call has ended. */
static void leave(void *context, const struct post_path_thread *thread)
{
	struct profile *profile = context;
	const size_t depth = thread->count - 1;
	const struct post_path_activation *callee = &thread->open[depth];
	const uint32_t block = post_path_caller(thread, depth);
	struct edge *edge;
	uint32_t number;

	if (!callee->code || block == POST_NONE)
		return;
	const struct post_path_code *caller = thread->open[depth - 1].code;
	const struct post_key key = {
		{caller->module, block, callee->code->module, callee->function}};

	number = post_table_find(&profile->edge_index, key);
	if (number == POST_NONE) {
		number = (uint32_t)profile->edge_count;
		post_table_put(&profile->edge_index, key, number);
		POST_GROW(profile->edges, profile->edge_count, profile->edge_capacity);
		profile->edges[profile->edge_count++] =
			(struct edge){caller, callee->code, block, callee->function, 0, 0};
	}
	edge = &profile->edges[number];
	edge->count++;
	edge->cost += thread->cost - callee->cost_before;
}

static void take(void *context, const struct post_path_step *step)
{
	struct profile *profile = context;

	post_path_track(&profile->tracker, step);
}

static int by_block(const void *left, const void *right)
{
	const struct edge *a = left, *b = right;

	if (a->caller->module != b->caller->module)
		return a->caller->module < b->caller->module ? -1 : 1;
	return a->block < b->block ? -1 : a->block > b->block;
}

static const char *name_of(struct profile *profile, const struct post_path_code *code,
			   uint32_t block)
{
	const uint32_t number = post_session_function(profile->session, code->module,
						      code->blocks[block].block.start);

	return profile->session->functions[number].name;
}

static const struct post_path_line *first_line(struct profile *profile,
					       const struct post_path_code *code, uint32_t block)
{
	return &post_path_lines(&profile->lines, profile->session, code, block)->items[0];
}

/* callgrind_annotate takes two spellings of a name for two files, so each is written once. */
static void write_file(struct profile *profile, const char *key, const char *name)
{
	size_t number = 0;

	while (number < profile->file_count && strcmp(profile->files[number], name))
		number++;
	if (number < profile->file_count) {
		fprintf(profile->output->file, "%s=(%zu)\n", key, number + 1);
		return;
	}
	POST_GROW(profile->files, profile->file_count, profile->file_capacity);
	profile->files[profile->file_count++] = name;
	fprintf(profile->output->file, "%s=(%zu) %s\n", key, number + 1, name);
}

static const char *file_of(const struct post_path_line *line)
{
	return line->file ? line->file : "???";
}

/* callgrind_annotate makes the names of fl= relative to its folder, but not those of cfl=, and then
 * takes one function for two. So there is no cfl=, and the callee's file is the current one when
 * cfn= names the callee. */
static void write_calls(struct profile *profile, const struct edge *edge, const char *at_file)
{
	FILE *file = profile->output->file;
	const struct post_path_lines *lines =
		post_path_lines(&profile->lines, profile->session, edge->caller, edge->block);
	const struct litifut_block *block = &edge->caller->blocks[edge->block].block;
	const struct post_path_line *line = &lines->items[0],
				    *callee = first_line(profile, edge->callee, edge->function);

	for (uint32_t i = 0; i < lines->count && lines->items[i].address <= block->branch; i++)
		line = &lines->items[i];
	fprintf(file, "cob=%s\n", profile->session->modules[edge->callee->module].name);
	if (strcmp(at_file, file_of(callee)))
		write_file(profile, "fl", file_of(callee));
	fprintf(file, "cfn=%s\n", name_of(profile, edge->callee, edge->function));
	if (strcmp(at_file, file_of(callee)))
		write_file(profile, "fl", at_file);
	fprintf(file, "calls=%" PRIu64 " 0x%" PRIx32 " %u\n", edge->count, callee->address,
		callee->line);
	fprintf(file, "0x%" PRIx32 " %u %" PRIu64 "\n",
		block->branch ? block->branch : block->start, line->line, edge->cost);
}

static void write_block(struct profile *profile, const struct post_path_code *code, uint32_t number,
			const char *main_file, const char **at_file)
{
	const struct block_cost *about = &profile->modules[code->module].blocks[number];
	const struct post_path_lines *lines =
		post_path_lines(&profile->lines, profile->session, code, number);
	FILE *file = profile->output->file;

	for (uint32_t i = 0; about->executed && i < lines->count; i++) {
		const struct post_path_line *line = &lines->items[i];

		if (!about->instructions[i])
			continue;
		if (strcmp(*at_file, file_of(line)))
			write_file(profile, strcmp(main_file, file_of(line)) ? "fi" : "fe",
				   file_of(line));
		*at_file = file_of(line);
		fprintf(file, "0x%" PRIx32 " %u %" PRIu64 "\n", line->address, line->line,
			about->instructions[i] * about->executed);
	}
}

static void write_function(struct profile *profile, const struct post_path_code *code,
			   uint32_t first, uint32_t end, size_t *edge)
{
	const char *main_file = file_of(first_line(profile, code, first)), *at_file = main_file;
	FILE *file = profile->output->file;

	fprintf(file, "\nob=%s\n", profile->session->modules[code->module].name);
	write_file(profile, "fl", main_file);
	fprintf(file, "fn=%s\n", name_of(profile, code, first));
	for (uint32_t i = first; i < end; i++) {
		write_block(profile, code, i, main_file, &at_file);
		for (; *edge < profile->edge_count && profile->edges[*edge].caller == code &&
		       profile->edges[*edge].block == i;
		     ++*edge)
			write_calls(profile, &profile->edges[*edge], at_file);
	}
}

static void write_module(struct profile *profile, const struct module_costs *module, size_t *edge)
{
	const struct post_path_code *code = module->code;

	for (uint32_t first = 0, end; first < code->count; first = end) {
		uint64_t executed = 0;

		for (end = first; end < code->count &&
				  code->blocks[end].function == code->blocks[first].function;
		     end++)
			executed += module->blocks[end].executed;
		if (executed)
			write_function(profile, code, first, end, edge);
	}
}

static void write_profile(struct profile *profile)
{
	FILE *file = profile->output->file;
	uint64_t all = 0;
	size_t edge = 0;

	for (size_t i = 0; i < profile->module_count; i++)
		for (size_t j = 0; profile->modules[i].code && j < profile->modules[i].code->count;
		     j++)
			all += profile->modules[i].blocks[j].all *
			       profile->modules[i].blocks[j].executed;
	fprintf(file, "event: Ir : Instructions\nevents: Ir\nsummary: %" PRIu64 "\n", all);
	if (profile->edge_count)
		qsort(profile->edges, profile->edge_count, sizeof(*profile->edges), by_block);
	for (size_t i = 0; i < profile->module_count; i++)
		if (profile->modules[i].code)
			write_module(profile, &profile->modules[i], &edge);
}

bool post_callgrind_has_paths(const struct post_session *session)
{
	for (size_t i = 0; i < session->process_count; i++)
		if (session->processes[i]->trace && session->processes[i]->trace->bits_count)
			return true;
	return false;
}

void post_callgrind_paths_write(struct post_output *output)
{
	struct post_session *session = output->session;
	struct profile profile = {.output = output, .session = session};

	for (size_t i = 0; i < session->process_count; i++) {
		if (!session->processes[i]->trace || !session->processes[i]->trace->bits_count)
			continue;
		profile.tracker = (struct post_path_tracker){
			.leave = leave, .cost = cost, .context = &profile};
		post_paths_walk(session, session->processes[i], &profile.codes, take, &profile,
				&(struct post_path_totals){0});
		post_path_track_end(&profile.tracker);
	}
	write_profile(&profile);
	for (size_t i = 0; i < profile.module_count; i++) {
		struct module_costs *module = &profile.modules[i];

		for (size_t j = 0; module->code && j < module->code->count; j++)
			free(module->blocks[j].instructions);
		free(module->blocks);
		free(module->plain);
	}
	free(profile.modules);
	free(profile.edges);
	free(profile.files);
	post_table_release(&profile.edge_index);
	post_path_lines_release(&profile.lines);
	post_path_codes_release(&profile.codes);
}
