/* Each block becomes a node. A call or a jump into another function that is made under a condition
 * gets a separate node, so that a node either calls or decides. */
#include "postproc/paths/program.h"

#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/bytes.h"
#include "postproc/table.h"

struct maker {
	struct path_program *program;
	const struct post_image *image;
	uint32_t function;
	uint32_t first_block, end_block; /* of the function */
	uint32_t *labels;                /* blocks of it that jumps may lead to */
	size_t label_count, label_capacity;
	uint32_t spare;      /* the next node of the function that is not of one block */
	uint32_t dispatcher; /* the last one, that leads to all labels; if there are any */
};

bool path_program_goes_on(const struct path_program *program, uint32_t block)
{
	const struct litifut_block *about = &program->image->blocks[block];

	return about->ends == LITIFUT_ENDS_ON && !(about->flags & LITIFUT_BLOCK_CONDITIONAL) &&
	       block + 1 < program->image->block_count &&
	       program->image->blocks[block + 1].start == about->end;
}

/* The function that begins at an address, or to which a veneer there leads; PATH_UNKNOWN. */
static uint32_t function_at(const struct maker *maker, uint32_t address, bool veneers)
{
	uint32_t block = post_image_block_start(maker->image, address & ~1u);

	if (block == PATH_NO_BLOCK && veneers && address) {
		const struct litifut_code_reader code = post_image_code(maker->image);
		const struct litifut_lead lead = maker->image->cpu->linkage.follow(&code, address);

		if (lead.kind == LITIFUT_LEADS_TO_CODE)
			block = post_image_block_start(maker->image, lead.address & ~1u);
	}
	if (block == PATH_NO_BLOCK)
		return PATH_UNKNOWN;
	const uint32_t function = maker->program->function_of[block];
	return maker->program->first_block[function] == block ? function : PATH_UNKNOWN;
}

/* What one way out of a block is. */
struct way {
	uint32_t target; /* node of the function, or PATH_EXIT */
	uint32_t callee; /* entered before: PATH_UNKNOWN, none that is known */
};

static struct way way_to(const struct maker *maker, uint32_t address, bool veneers)
{
	const uint32_t block = post_image_block_start(maker->image, address & ~1u);

	if (block != PATH_NO_BLOCK && block >= maker->first_block && block < maker->end_block)
		return (struct way){maker->program->node_of[block], PATH_UNKNOWN};
	return (struct way){PATH_EXIT, function_at(maker, address, veneers)};
}

static struct way way_out(const struct maker *maker, const struct litifut_block *block)
{
	struct way way = {PATH_EXIT, PATH_UNKNOWN};

	if (block->ends == LITIFUT_ENDS_BRANCH)
		return way_to(maker, block->target, true);
	if (block->ends == LITIFUT_ENDS_CALL) {
		way = way_to(maker, block->end,
			     false); /* a function that begins there is not meant */
		way.callee = function_at(maker, block->target, true);
	} else if (block->ends == LITIFUT_ENDS_ON) {
		way = way_to(maker, block->end, false);
	}
	return way;
}

/* How many nodes a block needs besides its own. */
static unsigned spare_nodes(const struct maker *maker, const struct litifut_block *block)
{
	if (!(block->flags & LITIFUT_BLOCK_CONDITIONAL))
		return 0;
	return (way_to(maker, block->end, false).callee != PATH_UNKNOWN) +
	       (block->ends == LITIFUT_ENDS_CALL || way_out(maker, block).callee != PATH_UNKNOWN);
}

/* The node of a way under a condition. */
static uint32_t through_spare(struct maker *maker, const struct way *way, bool calls)
{
	return calls || way->callee != PATH_UNKNOWN ? maker->spare++ : way->target;
}

static void add_spare(struct maker *maker, uint32_t block, const struct way *way)
{
	const uint32_t node = path_flow_node(&maker->program->flow, way->callee);

	path_flow_edge(&maker->program->flow, way->target);
	maker->program->block_of[node] = block;
}

static void add_block(struct maker *maker, uint32_t number)
{
	struct path_program *program = maker->program;
	const struct litifut_block *block = &maker->image->blocks[number];
	const bool conditional = block->flags & LITIFUT_BLOCK_CONDITIONAL;
	const struct way out = way_out(maker, block);
	struct way passed = way_to(maker, block->end, false);
	const uint32_t node =
		path_flow_node(&program->flow, conditional ? PATH_UNKNOWN : out.callee);

	program->block_of[node] = number;
	program->branches += conditional;
	program->unknown_calls += block->ends == LITIFUT_ENDS_CALL && out.callee == PATH_UNKNOWN;
	if (conditional)
		path_flow_edge(&program->flow, through_spare(maker, &passed, false));
	if (block->ends == LITIFUT_ENDS_STOP && !conditional)
		return;
	if (block->ends == LITIFUT_ENDS_JUMP) {
		program->jumps++;
		if (maker->label_count) /* the node that leads to all of them */
			path_flow_edge(&program->flow, maker->dispatcher);
	}
	path_flow_edge(&program->flow,
		       conditional ? through_spare(maker, &out, block->ends == LITIFUT_ENDS_CALL)
				   : out.target);
}

/* The nodes that through_spare() has given numbers, in that order. */
static void add_spares(struct maker *maker, uint32_t number)
{
	const struct litifut_block *block = &maker->image->blocks[number];
	const struct way out = way_out(maker, block);
	const struct way passed = way_to(maker, block->end, false);

	if (!(block->flags & LITIFUT_BLOCK_CONDITIONAL))
		return;
	if (passed.callee != PATH_UNKNOWN)
		add_spare(maker, number, &passed);
	if (block->ends == LITIFUT_ENDS_CALL || out.callee != PATH_UNKNOWN)
		add_spare(maker, number, &out);
}

static void add_dispatcher(struct maker *maker)
{
	const uint32_t node = path_flow_node(&maker->program->flow, PATH_UNKNOWN);

	for (size_t i = 0; i < maker->label_count; i++)
		path_flow_edge(&maker->program->flow, maker->program->node_of[maker->labels[i]]);
	maker->program->block_of[node] = PATH_NO_BLOCK;
}

/* Returns how many nodes the function has. */
static uint32_t enter_function(struct maker *maker, uint32_t function)
{
	uint32_t nodes;

	maker->first_block = maker->program->first_block[function];
	maker->end_block = maker->program->first_block[function + 1];
	maker->label_count = 0;
	nodes = maker->end_block - maker->first_block;
	for (uint32_t i = maker->first_block; i < maker->end_block; i++) {
		nodes += spare_nodes(maker, &maker->image->blocks[i]);
		if (!(maker->image->blocks[i].flags & LITIFUT_BLOCK_LABEL))
			continue;
		POST_GROW(maker->labels, maker->label_count, maker->label_capacity);
		maker->labels[maker->label_count++] = i;
	}
	return nodes + (maker->label_count > 0);
}

static void add_function(struct maker *maker, uint32_t function)
{
	struct path_program *program = maker->program;
	const uint32_t nodes = enter_function(maker, function);
	const uint32_t first = program->node_of[maker->first_block];

	path_flow_function(&program->flow);
	maker->spare = first + maker->end_block - maker->first_block;
	maker->dispatcher = first + nodes - 1;
	for (uint32_t i = maker->first_block; i < maker->end_block; i++)
		add_block(maker, i);
	for (uint32_t i = maker->first_block; i < maker->end_block; i++)
		add_spares(maker, i);
	if (maker->label_count)
		add_dispatcher(maker);
}

/* A function begins with the block that says so. Returns how many there are. */
static size_t number_functions(struct path_program *program)
{
	const struct post_image *image = program->image;
	size_t count = 0;

	for (uint32_t i = 0; i < image->block_count; i++) {
		if (!i || image->blocks[i].flags & LITIFUT_BLOCK_FUNCTION)
			program->first_block[count++] = i;
		program->function_of[i] = (uint32_t)count - 1;
	}
	program->first_block[count] = (uint32_t)image->block_count;
	return count;
}

/* Gives blocks their nodes. Returns how many nodes there will be. */
static uint32_t number_nodes(struct maker *maker, size_t functions)
{
	struct path_program *program = maker->program;
	uint32_t node = 0;

	for (uint32_t f = 0; f < functions; f++) {
		uint32_t next = node + enter_function(maker, f);

		for (uint32_t i = maker->first_block; i < maker->end_block; i++)
			program->node_of[i] = node++;
		node = next;
	}
	return node;
}

/* A literal of the tracer, whose code does not form addresses of the program's functions: that it
 * looks like one is chance. */
static bool is_of_tracer(const struct maker *maker, const struct post_segment *segment, uint32_t at)
{
	return segment->executable && post_symbol_is_tracer(post_symbols_find(
					      &maker->image->symbols, segment->address + at));
}

/* A word of the file that is the address of a function: control may come there from anywhere. */
static void find_addresses(struct maker *maker)
{
	const struct post_image *image = maker->image;
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
			function = maker->program->function_of[block];
			if (maker->program->first_block[function] == block &&
			    !is_of_tracer(maker, segment, at))
				maker->program->flow.functions[function].entered_otherwise = true;
		}
	}
}

bool path_is_named(const char *const *globs, const char *name)
{
	while (*globs && fnmatch(*globs, name, 0))
		globs++;
	return *globs;
}

static void name_functions(struct maker *maker, const char *const *only)
{
	struct path_program *program = maker->program;

	for (uint32_t f = 0; f < program->flow.function_count; f++) {
		const uint32_t address = maker->image->blocks[program->first_block[f]].start;
		const struct post_symbol *symbol =
			post_symbols_find(&maker->image->symbols, address);
		char text[32];

		snprintf(text, sizeof(text), "0x%x", address);
		program->names[f] = post_copy_text(symbol ? symbol->name : text);
		if (maker->image->blocks[program->first_block[f]].flags & LITIFUT_BLOCK_LEFT)
			program->flow.functions[f].traced = false;
		if (symbol && symbol->flags & POST_SYMBOL_DYNAMIC)
			program->flow.functions[f].entered_otherwise = true;
		if (only && !path_is_named(only, program->names[f]))
			program->flow.functions[f].traced = false;
	}
}

enum litifut_status path_program_make(const struct post_image *image, const char *const *only,
				      struct path_program *program, struct litifut_error *error)
{
	struct maker maker = {.program = program, .image = image};
	const size_t blocks = image->block_count + 1;
	size_t functions;

	*program = (struct path_program){.image = image};
	if (!image->block_count)
		return litifut_error_set(error, LITIFUT_ERROR_MISSING, image->path,
					 LITIFUT_SECTION_BLOCKS, LITIFUT_NO_ADDRESS,
					 "it has no list of its blocks: link with "
					 "LITIFUT_MODE=coverage or paths");
	program->node_of = post_allocate(blocks, sizeof(*program->node_of));
	program->function_of = post_allocate(blocks, sizeof(*program->function_of));
	program->first_block = post_allocate(blocks, sizeof(*program->first_block));
	functions = number_functions(program);
	program->block_of = post_allocate((size_t)number_nodes(&maker, functions) + 1,
					  sizeof(*program->block_of));
	for (uint32_t f = 0; f < functions; f++)
		add_function(&maker, f);
	program->names = post_allocate(functions + 1, sizeof(*program->names));
	name_functions(&maker, only);
	find_addresses(&maker);
	free(maker.labels);
	return LITIFUT_OK;
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
	for (size_t f = 0; program->names && f < program->flow.function_count; f++)
		free(program->names[f]);
	free(program->names);
	free(program->node_of);
	free(program->function_of);
	free(program->block_of);
	free(program->first_block);
	path_flow_release(&program->flow);
	*program = (struct path_program){0};
}
