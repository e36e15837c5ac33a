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

#endif
