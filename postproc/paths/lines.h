/* The source lines of the blocks of a module. Each block is looked up once, as DWARF is slow. */
#ifndef LITIFUT_POSTPROC_PATHS_LINES_H
#define LITIFUT_POSTPROC_PATHS_LINES_H

#include "postproc/paths/code.h"

/* Code of one line that is not interrupted by code of another. */
struct post_path_line {
	uint32_t address; /* link-time, where it begins */
	unsigned line;    /* 0: not known */
	const char *file; /* NULL: not known; lives as long as the session */
	char *text;       /* NULL: of whoever prints the line; freed with the table */
};

struct post_path_lines {
	struct post_path_line *items;
	uint32_t count;
	bool known; /* they have been looked up */
};

/* By number of the module, and of the block in it. All zero to start with. */
struct post_path_line_table {
	struct post_path_lines **modules;
	size_t *block_counts; /* of each module */
	size_t count, block_counts_count;
};

/* The lines of a block in the order of their addresses; at least one. */
struct post_path_lines *post_path_lines(struct post_path_line_table *table,
					const struct post_session *session,
					const struct post_path_code *code, uint32_t block);

void post_path_lines_release(struct post_path_line_table *table);

#endif
