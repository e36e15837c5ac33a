#include "postproc/paths/code.h"

#include <stdlib.h>
#include <string.h>

#include "postproc/paths/instructions.h"
#include "postproc/paths/program.h"

static uint32_t followed(const struct post_image *image, uint32_t address)
{
	const uint32_t number = post_image_block_start(image, address & ~1u);

	return number != POST_NONE && image->blocks[number].flags & LITIFUT_BLOCK_LEFT ? POST_NONE
										       : number;
}

static int by_address(const void *left, const void *right)
{
	const struct post_path_edge *a = left, *b = right;

	return a->address < b->address ? -1 : a->address > b->address;
}

static void read_edges(struct post_path_code *code, const struct post_image *image)
{
	bool *apart = post_allocate(code->count + 1, sizeof(*apart));

	code->edges = post_allocate(image->site_count + 1, sizeof(*code->edges));
	for (size_t i = 0; i < image->site_count; i++) {
		const struct litifut_site *site = &image->sites[i];
		const uint32_t block = post_image_block(image, site->address);

		if (site->reason != LITIFUT_SITE_PATCHED || !site->exit ||
		    site->site_class != LITIFUT_SITE_CLASS_EDGE || block == POST_NONE)
			continue;
		code->edges[code->edge_count++] =
			(struct post_path_edge){.address = site->exit & ~1u,
						.block = block,
						.entry = site->kind == LITIFUT_SITE_BLOCK,
						.end = site->kind == LITIFUT_SITE_BLOCK &&
						       site->address != image->blocks[block].start};
		apart[block] = apart[block] || site->kind == LITIFUT_SITE_BLOCK;
	}
	for (size_t i = 0; i < code->edge_count; i++)
		code->edges[i].both = !apart[code->edges[i].block];
	free(apart);
	qsort(code->edges, code->edge_count, sizeof(*code->edges), by_address);
}

/* May control come to the function of the block by a table, which a jump in it may use then? */
static bool has_labels(const struct post_path_code *code, size_t block)
{
	for (size_t i = code->blocks[block].function;
	     i < code->count && code->blocks[i].function == code->blocks[block].function; i++)
		if (code->blocks[i].block.flags & LITIFUT_BLOCK_LABEL)
			return true;
	return false;
}

/* Which blocks have which numbers. */
static void find_numbered(struct post_path_code *code)
{
	size_t count = 0;

	for (size_t i = 0; i < code->count; i++) {
		const uint32_t entered = code->blocks[i].block.entered;
		struct post_path_block *function = &code->blocks[code->blocks[i].function];
		const uint32_t bits = LITIFUT_ENTERED_BITS(entered);

		if (LITIFUT_ENTERED_KIND(entered) != LITIFUT_ENTERED_NUMBER ||
		    function->number_bits || !bits || bits > LITIFUT_ENTERED_BITS_MOST)
			continue;
		function->number_bits = (uint8_t)bits;
		function->numbers = (uint32_t)count;
		count += (size_t)1 << bits;
	}
	code->numbered = post_allocate(count + 1, sizeof(*code->numbered));
	for (size_t i = 0; i < count; i++)
		code->numbered[i] = POST_NONE;
	for (size_t i = 0; i < code->count; i++) {
		const uint32_t entered = code->blocks[i].block.entered;
		const struct post_path_block *function = &code->blocks[code->blocks[i].function];

		if (LITIFUT_ENTERED_KIND(entered) == LITIFUT_ENTERED_NUMBER &&
		    !(LITIFUT_ENTERED_NUMBER_OF(entered) >> function->number_bits))
			code->numbered[function->numbers + LITIFUT_ENTERED_NUMBER_OF(entered)] =
				(uint32_t)i;
	}
}

/* Which calls and jumps are through pointers. */
static void find_pointers(struct post_path_code *code, const struct post_image *image)
{
	const struct cpu_context context = {.big_endian = image->big_endian_code};
	uint8_t *plain = image->cpu->leads_by_name ? path_program_plain(image) : NULL;

	for (size_t i = 0; i < code->count; i++) {
		const struct litifut_block *block = &code->blocks[i].block;
		const uint32_t start = code->blocks[code->blocks[i].function].block.start;
		const uint8_t *bytes;

		if (block->target ||
		    block->flags & (LITIFUT_BLOCK_RECORDS_JUMP | LITIFUT_BLOCK_JUMPS_WITHIN) ||
		    (block->ends != LITIFUT_ENDS_CALL &&
		     (block->ends != LITIFUT_ENDS_JUMP || has_labels(code, i))))
			continue;
		bytes = plain ? post_path_contents(image, plain, start, block->branch + 4) : NULL;
		code->blocks[i].pointer =
			!image->cpu->leads_by_name ||
			(bytes &&
			 !image->cpu->leads_by_name(&context, bytes, block->branch + 4 - start));
	}
	free(plain);
}

/* The names by which calls and jumps lead to functions that another module could take the place of:
 * by a PLT entry, or by a symbol that the rewriter has found out. */
static void find_callees(struct post_path_code *code, const struct post_image *image)
{
	for (size_t i = 0; i < code->count; i++) {
		struct post_path_block *block = &code->blocks[i];
		const struct post_symbol *entry;

		if (block->target != POST_NONE || block->block.flags & LITIFUT_BLOCK_CONDITIONAL ||
		    block->block.ends == LITIFUT_ENDS_ON)
			continue;
		entry = block->block.target
				? post_symbols_find(&image->symbols, block->block.target & ~1u)
				: NULL;
		if (entry && entry->flags & POST_SYMBOL_PLT)
			block->callee = entry->name;
		else if (block->block.taken && image->mode == LITIFUT_MODE_PATHS)
			block->callee = post_image_dynamic_name(image, block->block.taken);
	}
}

static struct post_path_code *read_code(struct post_session *session, uint32_t module)
{
	const struct post_image *image = post_session_blocks(session, module);
	struct post_path_code *code = post_allocate(1, sizeof(*code));

	code->module = module;
	if (!image)
		return code;
	code->image = image;
	code->cpu = image->cpu;
	code->count = image->block_count;
	code->blocks = post_allocate(code->count, sizeof(*code->blocks));
	for (size_t i = 0; i < code->count; i++)
		code->blocks[i].block = image->blocks[i];
	for (size_t i = 0, function = 0; i < code->count; i++) {
		struct post_path_block *block = &code->blocks[i];

		if (block->block.flags & LITIFUT_BLOCK_FUNCTION)
			function = i;
		block->function = (uint32_t)function;
		block->next = followed(image, block->block.end);
		/* such a call does not return, whatever stands behind it */
		if (block->next != POST_NONE && block->block.ends == LITIFUT_ENDS_CALL &&
		    image->blocks[block->next].flags & LITIFUT_BLOCK_FUNCTION)
			block->next = POST_NONE;
		block->target =
			block->block.target ? followed(image, block->block.target) : POST_NONE;
	}
	if (image->mode == LITIFUT_MODE_PATHS)
		find_numbered(code);
	find_pointers(code, image);
	find_callees(code, image);
	code->frames = post_path_frames(image);
	read_edges(code, image);
	return code;
}

const struct post_path_code *post_path_code(struct post_path_codes *codes,
					    struct post_session *session, uint32_t module)
{
	POST_WIDEN(codes->items, codes->count, module, session->module_count);
	if (!codes->items[module])
		codes->items[module] = read_code(session, module);
	return codes->items[module];
}

const struct post_path_edge *post_path_edge(const struct post_path_code *code, uint32_t address)
{
	size_t low = 0, high = code->edge_count;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (code->edges[middle].address <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? &code->edges[low - 1] : NULL;
}

bool post_path_is_without_file(const struct post_path_code *code)
{
	return code && !code->count;
}

void post_path_codes_release(struct post_path_codes *codes)
{
	for (size_t i = 0; i < codes->count; i++) {
		if (!codes->items[i])
			continue;
		free(codes->items[i]->blocks);
		free(codes->items[i]->frames);
		free(codes->items[i]->edges);
		free(codes->items[i]->numbered);
		free(codes->items[i]);
	}
	free(codes->items);
	*codes = (struct post_path_codes){0};
}
