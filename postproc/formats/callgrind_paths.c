#include "postproc/formats/callgrind_paths.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "postproc/paths/profile.h"

struct writer {
	struct post_output *output;
	struct post_path_profile profile;
	const char **files; /* that were named in the output */
	size_t file_count, file_capacity;
};

static const char *name_of(struct writer *writer, const struct post_path_code *code, uint32_t block)
{
	const uint32_t number = post_path_profile_function(&writer->profile, code, block);

	return writer->profile.session->functions[number].name;
}

static const struct post_path_line *first_line(struct writer *writer,
					       const struct post_path_code *code, uint32_t block)
{
	return &post_path_lines(&writer->profile.lines, writer->profile.session, code, block)
			->items[0];
}

/* callgrind_annotate takes two spellings of a name for two files, so each is written once. */
static void write_file(struct writer *writer, const char *key, const char *name)
{
	size_t number = 0;

	while (number < writer->file_count && strcmp(writer->files[number], name))
		number++;
	if (number < writer->file_count) {
		fprintf(writer->output->file, "%s=(%zu)\n", key, number + 1);
		return;
	}
	POST_GROW(writer->files, writer->file_count, writer->file_capacity);
	writer->files[writer->file_count++] = name;
	fprintf(writer->output->file, "%s=(%zu) %s\n", key, number + 1, name);
}

static const char *file_of(const struct post_path_line *line)
{
	return line->file ? line->file : "???";
}

/* callgrind_annotate makes the names of fl= relative to its folder, but not those of cfl=, and then
 * takes one function for two. So there is no cfl=, and the callee's file is the current one when
 * cfn= names the callee. */
static void write_calls(struct writer *writer, const struct post_path_calls *calls,
			const char *at_file)
{
	FILE *file = writer->output->file;
	const struct post_path_lines *lines = post_path_lines(
		&writer->profile.lines, writer->profile.session, calls->caller, calls->block);
	const struct litifut_block *block = &calls->caller->blocks[calls->block].block;
	const struct post_path_line *line = &lines->items[0],
				    *callee = first_line(writer, calls->callee, calls->function);

	for (uint32_t i = 0; i < lines->count && lines->items[i].address <= block->branch; i++)
		line = &lines->items[i];
	fprintf(file, "cob=%s\n", writer->profile.session->modules[calls->callee->module].name);
	if (strcmp(at_file, file_of(callee)))
		write_file(writer, "fl", file_of(callee));
	fprintf(file, "cfn=%s\n", name_of(writer, calls->callee, calls->function));
	if (strcmp(at_file, file_of(callee)))
		write_file(writer, "fl", at_file);
	fprintf(file, "calls=%" PRIu64 " 0x%" PRIx32 " %u\n", calls->count, callee->address,
		callee->line);
	fprintf(file, "0x%" PRIx32 " %u %" PRIu64 "\n", post_path_calls_site(calls), line->line,
		calls->cost);
}

static void write_block(struct writer *writer, const struct post_path_code *code, uint32_t number,
			const char *main_file, const char **at_file)
{
	const struct post_path_block_cost *about =
		&writer->profile.modules[code->module].blocks[number];
	const struct post_path_lines *lines =
		post_path_lines(&writer->profile.lines, writer->profile.session, code, number);
	FILE *file = writer->output->file;

	for (uint32_t i = 0; about->executed && i < lines->count; i++) {
		const struct post_path_line *line = &lines->items[i];

		if (!about->instructions[i])
			continue;
		if (strcmp(*at_file, file_of(line)))
			write_file(writer, strcmp(main_file, file_of(line)) ? "fi" : "fe",
				   file_of(line));
		*at_file = file_of(line);
		fprintf(file, "0x%" PRIx32 " %u %" PRIu64 "\n", line->address, line->line,
			about->instructions[i] * about->executed);
	}
}

static void write_function(struct writer *writer, const struct post_path_code *code, uint32_t first,
			   uint32_t end, size_t *next)
{
	const char *main_file = file_of(first_line(writer, code, first)), *at_file = main_file;
	FILE *file = writer->output->file;

	fprintf(file, "\nob=%s\n", writer->profile.session->modules[code->module].name);
	write_file(writer, "fl", main_file);
	fprintf(file, "fn=%s\n", name_of(writer, code, first));
	for (uint32_t i = first; i < end; i++) {
		write_block(writer, code, i, main_file, &at_file);
		for (; *next < writer->profile.call_count &&
		       writer->profile.calls[*next].caller == code &&
		       writer->profile.calls[*next].block == i;
		     ++*next)
			write_calls(writer, &writer->profile.calls[*next], at_file);
	}
}

static void write_module(struct writer *writer, const struct post_path_module_costs *module,
			 size_t *next)
{
	const struct post_path_code *code = module->code;

	for (uint32_t first = 0, end; first < code->count; first = end) {
		end = post_path_profile_end(code, first);
		if (post_path_profile_sum(module, first, end))
			write_function(writer, code, first, end, next);
	}
}

static void write_profile(struct writer *writer)
{
	const struct post_path_profile *profile = &writer->profile;
	uint64_t all = 0;
	size_t next = 0;

	for (size_t i = 0; i < profile->module_count; i++)
		if (profile->modules[i].code)
			all += post_path_profile_sum(&profile->modules[i], 0,
						     (uint32_t)profile->modules[i].code->count);
	fprintf(writer->output->file,
		"event: Ir : Instructions\nevents: Ir\nsummary: %" PRIu64 "\n", all);
	for (size_t i = 0; i < profile->module_count; i++)
		if (profile->modules[i].code)
			write_module(writer, &profile->modules[i], &next);
}

void post_callgrind_paths_write(struct post_output *output)
{
	struct writer writer = {.output = output};

	post_path_profile_collect(output->session, &writer.profile);
	write_profile(&writer);
	free(writer.files);
	post_path_profile_release(&writer.profile);
}
