#include "postproc/paths/lines.h"

#include <stdlib.h>
#include <string.h>

#include "postproc/model/lines.h"

static bool is_same(const struct post_path_line *a, const struct post_path_line *b)
{
	return a->line == b->line &&
	       (a->file == b->file || (a->file && b->file && !strcmp(a->file, b->file)));
}

static void look_up(struct post_path_lines *lines, const struct post_session *session,
		    uint32_t module, const struct litifut_block *block)
{
	size_t capacity = 0, count = 0;

	for (uint32_t at = block->start; at < block->end; at += 2) {
		struct post_path_line line = {.address = at};

		if (!post_lines_place(session, module, at, &line.file, &line.line) || !line.line)
			line = (struct post_path_line){.address = at};
		if (count && is_same(&line, &lines->items[count - 1]))
			continue;
		POST_GROW(lines->items, count, capacity);
		lines->items[count++] = line;
	}
	lines->count = (uint32_t)count;
	lines->known = true;
}

struct post_path_lines *post_path_lines(struct post_path_line_table *table,
					const struct post_session *session,
					const struct post_path_code *code, uint32_t block)
{
	struct post_path_lines *lines;

	POST_WIDEN(table->modules, table->count, code->module, session->module_count);
	POST_WIDEN(table->block_counts, table->block_counts_count, code->module,
		   session->module_count);
	if (!table->modules[code->module]) {
		table->modules[code->module] = post_allocate(code->count, sizeof(**table->modules));
		table->block_counts[code->module] = code->count;
	}
	lines = &table->modules[code->module][block];
	if (!lines->known)
		look_up(lines, session, code->module, &code->blocks[block].block);
	return lines;
}

static void free_lines(struct post_path_lines *lines)
{
	for (uint32_t i = 0; i < lines->count; i++)
		free(lines->items[i].text);
	free(lines->items);
}

void post_path_lines_release(struct post_path_line_table *table)
{
	for (size_t i = 0; i < table->count; i++) {
		for (size_t j = 0; table->modules[i] && j < table->block_counts[i]; j++)
			free_lines(&table->modules[i][j]);
		free(table->modules[i]);
	}
	free(table->modules);
	free(table->block_counts);
	*table = (struct post_path_line_table){0};
}
