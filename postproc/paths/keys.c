#include "postproc/paths/keys.h"

#include <stdlib.h>
#include <string.h>

#include "postproc/model/lines.h"

struct declaration {
	char *name, *file;
	unsigned line;
};

struct post_path_key_module {
	bool same;     /* the other side has the same build */
	uint64_t salt; /* of the module */
	struct post_path_keys *blocks;
	size_t block_count;
	struct declaration *declarations; /* by file and line */
	size_t declaration_count, declaration_capacity;
};

uint64_t post_path_mix_text(uint64_t hash, const char *text)
{
	while (*text)
		hash = post_path_mix(hash, (unsigned char)*text++);
	return post_path_mix(hash, 0x100);
}

static int by_place(const void *left, const void *right)
{
	const struct declaration *a = left, *b = right;
	const int order = strcmp(a->file, b->file);

	return order ? order : a->line < b->line ? -1 : a->line > b->line;
}

static void add_declaration(void *context, const char *name, const char *file, unsigned line)
{
	struct post_path_key_module *module = context;

	POST_GROW(module->declarations, module->declaration_count, module->declaration_capacity);
	module->declarations[module->declaration_count++] =
		(struct declaration){post_copy_text(name), post_copy_text(file), line};
}

static bool is_same_build(const struct post_module *a, const struct post_module *b)
{
	return a->build_id_bytes && a->build_id_bytes == b->build_id_bytes &&
	       !memcmp(a->build_id, b->build_id, a->build_id_bytes);
}

static struct post_path_key_module *make_module(struct post_path_key_table *table,
						const struct post_path_code *code)
{
	const struct post_module *about = &table->session->modules[code->module];
	struct post_path_key_module *module = post_allocate(1, sizeof(*module));

	module->block_count = code->count;
	module->blocks = post_allocate(code->count + 1, sizeof(*module->blocks));
	for (size_t i = 0; i < table->other->module_count; i++)
		module->same |= is_same_build(about, &table->other->modules[i]);
	if (module->same) {
		for (unsigned i = 0; i < about->build_id_bytes; i++)
			module->salt = post_path_mix(module->salt, about->build_id[i]);
		return module;
	}
	post_lines_functions(table->session, code->module, add_declaration, module);
	qsort(module->declarations, module->declaration_count, sizeof(*module->declarations),
	      by_place);
	return module;
}

static struct post_path_key_module *module_of(struct post_path_key_table *table,
					      const struct post_path_code *code)
{
	POST_WIDEN(table->modules, table->count, code->module, table->session->module_count);
	if (!table->modules[code->module])
		table->modules[code->module] = make_module(table, code);
	return table->modules[code->module];
}

/* The last function that is declared at the line or before it in its file; NULL: none. */
static const struct declaration *declared_before(const struct post_path_key_module *module,
						 const char *file, unsigned line)
{
	size_t low = 0, high = module->declaration_count;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;
		const struct declaration *at = &module->declarations[middle];
		const int order = strcmp(at->file, file);

		if (order < 0 || (!order && at->line <= line))
			low = middle + 1;
		else
			high = middle;
	}
	return low && !strcmp(module->declarations[low - 1].file, file)
		       ? &module->declarations[low - 1]
		       : NULL;
}

static uint64_t key_of_line(const struct post_path_key_module *module,
			    const struct post_path_line *line)
{
	const char *slash = strrchr(line->file, '/'), *file = slash ? slash + 1 : line->file;
	const struct declaration *within = declared_before(module, file, line->line);
	uint64_t key = post_path_mix_text(1, file);

	if (within)
		key = post_path_mix_text(key, within->name);
	return post_path_mix(key, line->line - (within ? within->line : 0));
}

/* Without debugging information: how far behind the start of its function. */
static uint64_t key_of_address(const struct post_path_key_table *table,
			       const struct post_path_code *code, uint32_t address)
{
	const uint32_t number = post_session_function(table->session, code->module, address);
	const struct post_function *function = &table->session->functions[number];

	return post_path_mix(post_path_mix_text(2, function->name), address - function->address);
}

static void find_keys(struct post_path_key_table *table, struct post_path_key_module *module,
		      const struct post_path_code *code, uint32_t block)
{
	const struct post_path_lines *lines =
		post_path_lines(&table->lines, table->session, code, block);
	struct post_path_keys *keys = &module->blocks[block];

	keys->items = post_allocate(lines->count, sizeof(*keys->items));
	for (uint32_t i = 0; i < lines->count; i++) {
		const struct post_path_line *line = &lines->items[i];
		uint64_t key;

		if (module->same)
			key = post_path_mix(module->salt, line->address);
		else if (line->file)
			key = key_of_line(module, line);
		else
			key = key_of_address(table, code, line->address);
		keys->items[keys->count++] = (struct post_path_key){key, line->address};
	}
}

const struct post_path_keys *post_path_keys(struct post_path_key_table *table,
					    const struct post_path_code *code, uint32_t block)
{
	struct post_path_key_module *module = module_of(table, code);

	if (!module->blocks[block].count)
		find_keys(table, module, code, block);
	return &module->blocks[block];
}

bool post_path_is_same_build(struct post_path_key_table *table, const struct post_path_code *code)
{
	return module_of(table, code)->same;
}

uint64_t post_path_fingerprint(struct post_path_key_table *table, const struct post_path_code *code,
			       uint32_t function)
{
	uint64_t print = 3;

	for (uint32_t i = function; i < code->count && code->blocks[i].function == function; i++) {
		const struct post_path_keys *keys = post_path_keys(table, code, i);
		const struct litifut_block *block = &code->blocks[i].block;

		for (uint32_t j = 0; j < keys->count; j++)
			print = post_path_mix(print, keys->items[j].key);
		print = post_path_mix(
			print, block->ends | (uint64_t)(block->flags & LITIFUT_BLOCK_CONDITIONAL)
						     << 8);
	}
	return print;
}

void post_path_keys_release(struct post_path_key_table *table)
{
	for (size_t i = 0; i < table->count; i++) {
		struct post_path_key_module *module = table->modules[i];

		if (!module)
			continue;
		for (size_t j = 0; j < module->block_count; j++)
			free(module->blocks[j].items);
		free(module->blocks);
		for (size_t j = 0; j < module->declaration_count; j++) {
			free(module->declarations[j].name);
			free(module->declarations[j].file);
		}
		free(module->declarations);
		free(module);
	}
	free(table->modules);
	post_path_lines_release(&table->lines);
	*table = (struct post_path_key_table){0};
}
