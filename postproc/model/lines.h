/* Source lines from DWARF. Looked up only when they are asked for. */
#ifndef LITIFUT_POSTPROC_MODEL_LINES_H
#define LITIFUT_POSTPROC_MODEL_LINES_H

#include "postproc/model/session.h"

/* "FILE:LINE" of a link-time address. Gives false when it is not known. */
bool post_lines_text(const struct post_session *session, uint32_t module, uint32_t address,
		     char *text, size_t size);

/* The same in two parts; the name lives as long as the session. */
bool post_lines_place(const struct post_session *session, uint32_t module, uint32_t address,
		      const char **file, unsigned *line);

/* The line alone, 0 when it is not known or lines were not asked for. */
unsigned post_lines_number(const struct post_session *session, uint32_t module, uint32_t address);

/* A row of the line table: the code from `start` to before `end` (link-time) is of this line.
 * `file` lives as long as the session. */
struct post_line_row {
	uint32_t start, end;
	bool begins; /* a statement */
	bool empty;  /* a later row has the same code */
	const char *file;
	const char *folder; /* that `file` is relative to, or NULL */
	unsigned line;
};

/* Hands out the rows of all units of a module, in the order of the tables. False: there is no
 * debugging information. */
bool post_lines_walk(const struct post_session *session, uint32_t module,
		     void (*take)(void *context, const struct post_line_row *row), void *context);

#endif
