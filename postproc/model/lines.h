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

/* libdw's handle of a file, which is the file's; NULL: it describes no code. */
void *post_lines_dwarf(struct post_image *image);

/* What is known of the traced modules whose file is there. */
enum post_lines_state {
	POST_LINES_SHOWN, /* the line of what was asked for, or nothing was asked */
	POST_LINES_NONE,  /* they have no debugging information */
	/* they have some, as of a library that was linked in, but no line of what was asked for */
	POST_LINES_OF_OTHERS
};
enum post_lines_state post_lines_state(const struct post_session *session);

/* With which option compilers write what is needed for them. */
const char *post_lines_option(const struct post_session *session);

struct post_line_call {
	const char *file; /* lives as long as the session */
	unsigned line;
};

/* The calls whose callees were inlined at a link-time address, the outermost first. Returns how
 * many there are, at most `most`. */
size_t post_lines_inlined(const struct post_session *session, uint32_t module, uint32_t address,
			  struct post_line_call *calls, size_t most);

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

/* Hands out each function that the debugging information of a module defines, with the base name of
 * its file and the line where it is declared. False: there is none. */
bool post_lines_functions(const struct post_session *session, uint32_t module,
			  void (*take)(void *context, const char *name, const char *file,
				       unsigned line),
			  void *context);

#endif
