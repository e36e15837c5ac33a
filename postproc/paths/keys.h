/* What a piece of code is called in the comparison of two runs. In the same build that is its
 * place in the file. In two builds of a program it is its source line, counted from where the
 * function that the line is in is declared: code that was moved by a change elsewhere is the same,
 * and what was changed is not. */
#ifndef LITIFUT_POSTPROC_PATHS_KEYS_H
#define LITIFUT_POSTPROC_PATHS_KEYS_H

#include "postproc/paths/lines.h"

struct post_path_key {
	uint64_t key;
	uint32_t address; /* link-time, of the line */
};

/* Those of a block, in order; at least one. */
struct post_path_keys {
	struct post_path_key *items;
	uint32_t count;
};

struct post_path_key_module;

struct post_path_key_table {
	struct post_session *session;
	const struct post_session *other; /* the other side of the comparison */
	struct post_path_line_table lines;
	struct post_path_key_module **modules; /* by number */
	size_t count;
};

static inline uint64_t post_path_mix(uint64_t hash, uint64_t value)
{
	hash = (hash ^ value) * 0x9e3779b97f4a7c15u;
	return hash ^ hash >> 29;
}

uint64_t post_path_mix_text(uint64_t hash, const char *text);

const struct post_path_keys *post_path_keys(struct post_path_key_table *table,
					    const struct post_path_code *code, uint32_t block);

/* Is the code of the module the same file on both sides? */
bool post_path_is_same_build(struct post_path_key_table *table, const struct post_path_code *code);

/* Of all blocks of a function, and how they end: differs where the function was changed. */
uint64_t post_path_fingerprint(struct post_path_key_table *table, const struct post_path_code *code,
			       uint32_t function);

void post_path_keys_release(struct post_path_key_table *table);

#endif
