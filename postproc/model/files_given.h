/* What is said of the files that litifut-post was given, once all has been read. Each line fits
 * into `size` bytes, or is cut. */
#ifndef LITIFUT_POSTPROC_MODEL_FILES_GIVEN_H
#define LITIFUT_POSTPROC_MODEL_FILES_GIVEN_H

#include "postproc/model/session.h"

/* The next file from number *at on that the user has named and that served nothing, as a line;
 * false: there is none. After post_session_conclude(). */
bool post_session_needless(const struct post_session *session, size_t *at, char *text, size_t size);

/* After post_session_open(): reports the files that the user has named and that are other builds of
 * what was traced. Of such files the other side of a comparison may have the traces. */
void post_session_report_builds(struct post_session *session);

/* A line about traces that lie below one of the paths given, in which ELF files were found as well,
 * while others do not: programs were run there, too, and the user may not know. False: there are
 * none. */
bool post_session_mixed(const struct post_session *session, char *const *paths, size_t count,
			char *line, size_t size);

/* A line about a program or library of which traces of several builds are here, with their ELF
 * files; false: there is none. */
bool post_session_builds(const struct post_session *session, char *line, size_t size);

#endif
