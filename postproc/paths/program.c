#include "postproc/paths/program.h"

#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <litifut/trace_format.h>

#include "common/bytes.h"
#include "postproc/table.h"

bool path_program_goes_on(const struct path_program *program, uint32_t block)
{
	const struct litifut_block *about = &program->image->blocks[block];

	return about->ends == LITIFUT_ENDS_ON && !(about->flags & LITIFUT_BLOCK_CONDITIONAL) &&
	       block + 1 < program->image->block_count &&
	       program->image->blocks[block + 1].start == about->end;
}

/* A literal of the tracer, whose code does not form addresses of the program's functions: that it
 * looks like one is chance. */
static bool is_of_tracer(const struct path_program *program, const struct post_segment *segment,
			 uint32_t at)
{
	return segment->executable && post_symbol_is_tracer(post_symbols_find(
					      &program->image->symbols, segment->address + at));
}

/* A word of the file that is the address of a function: control may come there from anywhere. */
static void find_addresses(struct path_program *program)
{
	const struct post_image *image = program->image;
	size_t left = 2 * image->file.size; /* segments of a damaged file may overlap */

	for (size_t s = 0; s < image->segment_count; s++) {
		const struct post_segment *segment = &image->segments[s];

		if (segment->offset > image->file.size ||
		    segment->file_bytes > image->file.size - segment->offset ||
		    segment->file_bytes > left)
			continue;
		left -= segment->file_bytes;
		for (uint32_t at = -segment->address & 3; at + 4 <= segment->file_bytes; at += 4) {
			const uint8_t *bytes = image->file.bytes + segment->offset + at;
			const bool big = segment->executable ? image->big_endian_code
							     : image->file.big_endian;
			const uint32_t word = litifut_get32(big, bytes);
			const uint32_t block = post_image_block_start(image, word & ~1u);
			uint32_t function;

			if (block == PATH_NO_BLOCK ||
			    (word & 1) != (image->blocks[block].flags & LITIFUT_BLOCK_THUMB))
				continue;
			function = program->graph.function_of[block];
			if (program->graph.first_block[function] == block &&
			    !is_of_tracer(program, segment, at))
				program->graph.flow.functions[function].entered_otherwise = true;
		}
	}
}

bool path_is_named(const char *const *globs, const char *name)
{
	while (*globs && fnmatch(*globs, name, 0))
		globs++;
	return *globs;
}

static void name_functions(struct path_program *program, const char *const *only)
{
	for (uint32_t f = 0; f < program->graph.flow.function_count; f++) {
		const uint32_t address =
			program->image->blocks[program->graph.first_block[f]].start;
		const struct post_symbol *symbol =
			post_symbols_find(&program->image->symbols, address);
		char text[32];

		snprintf(text, sizeof(text), "0x%x", address);
		program->names[f] = post_copy_text(symbol ? symbol->name : text);
		if (program->image->blocks[program->graph.first_block[f]].flags &
		    LITIFUT_BLOCK_LEFT)
			program->graph.flow.functions[f].traced = false;
		if (symbol && symbol->flags & POST_SYMBOL_DYNAMIC)
			program->graph.flow.functions[f].entered_otherwise = true;
		if (only && !path_is_named(only, program->names[f]))
			program->graph.flow.functions[f].traced = false;
	}
}

static uint32_t follow_veneer(const void *context, uint32_t address)
{
	const struct post_image *image = context;
	const struct litifut_code_reader code = post_image_code(image);
	const struct litifut_lead lead = image->cpu->linkage.follow(&code, address);

	return lead.kind == LITIFUT_LEADS_TO_CODE ? lead.address : 0;
}

static enum litifut_status make(const struct post_image *image, const char *const *only,
				bool recorded, struct path_program *program,
				struct litifut_error *error)
{
	const struct path_blocks blocks = {image->blocks, image->block_count, follow_veneer, image,
					   recorded};

	*program = (struct path_program){.image = image};
	if (!image->block_count)
		return litifut_error_set(error, LITIFUT_ERROR_MISSING, image->path,
					 LITIFUT_SECTION_BLOCKS, LITIFUT_NO_ADDRESS,
					 "it has no list of its blocks: link with "
					 "LITIFUT_MODE=coverage or paths");
	if (!path_graph_make(&blocks, &program->graph))
		post_out_of_memory();
	program->names =
		post_allocate(program->graph.flow.function_count + 1, sizeof(*program->names));
	name_functions(program, only);
	find_addresses(program);
	return LITIFUT_OK;
}

enum litifut_status path_program_make(const struct post_image *image, const char *const *only,
				      struct path_program *program, struct litifut_error *error)
{
	return make(image, only, false, program, error);
}

enum litifut_status path_program_recorded(const struct post_image *image, const char *const *only,
					  struct path_program *program, struct litifut_error *error)
{
	return make(image, only, image->mode == LITIFUT_MODE_BALLLARUS, program, error);
}

uint8_t *path_program_plain(const struct post_image *image)
{
	uint8_t *plain = post_allocate(image->file.size + 1, 1);

	memcpy(plain, image->file.bytes, image->file.size);
	for (size_t i = 0; i < image->original_count; i++) {
		const struct litifut_original *original = &image->originals[i];

		for (size_t s = 0; s < image->segment_count; s++) {
			const struct post_segment *segment = &image->segments[s];
			const uint64_t at =
				(uint64_t)segment->offset + original->address - segment->address;

			if (original->address < segment->address ||
			    original->address - segment->address >= segment->file_bytes ||
			    original->length > sizeof(original->bytes) ||
			    at + original->length > image->file.size)
				continue;
			memcpy(plain + at, original->bytes, original->length);
			break;
		}
	}
	return plain;
}

void path_program_release(struct path_program *program)
{
	for (size_t f = 0; program->names && f < program->graph.flow.function_count; f++)
		free(program->names[f]);
	free(program->names);
	path_graph_release(&program->graph);
	*program = (struct path_program){0};
}
