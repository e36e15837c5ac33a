/* Source files of a report: which lines the functions and call sites are on, how much was
 * counted there, and the text of files that lie in the folders that the user named. */
#ifndef LITIFUT_POSTPROC_FORMATS_HTML_SOURCES_H
#define LITIFUT_POSTPROC_FORMATS_HTML_SOURCES_H

#include <stdbool.h>
#include <stdio.h>

#include "postproc/model/session.h"

#define POST_HTML_TEXT_BYTES (32u << 20) /* of all texts together; more is left out */

/* What was counted on a line. */
struct post_html_counts {
	uint64_t entered; /* calls of the function that begins here */
	uint64_t made;    /* calls made here */
	uint64_t time;    /* that these took, ns */
	/* Where it is known which code was executed. */
	bool has_code;
	bool executed;
	unsigned branches, ways; /* both ways of each conditional branch; those that were gone */
	uint64_t times;          /* most that a block of it was executed; 0: not counted */
};

struct post_html_line {
	uint32_t file, line;
	struct post_html_counts counts;
};

/* All zero to start with. */
struct post_html_sources {
	const struct post_session *session;
	const char *const *folders; /* NULL: no text is shown */
	char **names;               /* as debug information has them */
	size_t file_count, file_capacity;
	struct post_table index; /* of names, by address of the string in the debug information */
	struct post_html_line *lines;
	size_t line_count, line_capacity;
	struct post_table line_index;
};

/* The source line of an address: its file, and the line in *line; POST_NONE and 0 where it is
 * not known. Adds `counts` to what was counted there. */
uint32_t post_html_sources_count(struct post_html_sources *sources, uint32_t module,
				 uint32_t address, const struct post_html_counts *counts,
				 unsigned *line);

/* The members "files" and "sources", with a comma behind them. */
void post_html_sources_write(struct post_html_sources *sources, FILE *file);

void post_html_sources_release(struct post_html_sources *sources);

#endif
