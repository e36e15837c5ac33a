/* What the commands about paths share: they print. */
#ifndef LITIFUT_POSTPROC_PATHS_COMMAND_PRIVATE_H
#define LITIFUT_POSTPROC_PATHS_COMMAND_PRIVATE_H

#include <stdio.h>

#include "common/error.h"
#include "paths/numbering.h"
#include "postproc/sources/image.h"

struct path_arguments {
	const char *name; /* of the command */
	const char *output;
	char **only; /* owned, NULL-terminated; NULL: all */
	size_t only_count, only_capacity;
	unsigned id_bits;
	uint64_t top; /* 0: all */
	uint64_t patterns;
	bool quiet;
	char **paths; /* into argv */
	size_t path_count;
};

/* Both print, and return the exit status. */
int path_usage(const struct path_arguments *given, const char *message, const char *what);
int path_problem(const struct path_arguments *given, const struct litifut_error *error);

/* Returns an ELF file with all that belongs to it; NULL: that was said. */
struct post_image *path_open_image(const struct path_arguments *given, const char *path);

/* What is said of a function that is recorded apart, the most telling reason first. */
const char *path_reason_text(unsigned reasons);

struct path_row {
	uint32_t function;
	uint64_t paths;
};

/* For qsort(): those with most first. */
int path_by_paths(const void *left, const void *right);

/* The commands; each returns its exit status. */
int path_ids(FILE *file, const struct path_arguments *given);
int path_plain_run(FILE *file, const struct path_arguments *given);
int path_sizes_run(FILE *file, const struct path_arguments *given);
int path_mine_run(FILE *file, const struct path_arguments *given);
int path_diff_run(FILE *file, const struct path_arguments *given);

#endif
