/* Archives as inputs: what a USB stick held, packed into one .tar, .tar.gz, .tar.zst, .tar.xz or
 * .zip. */
#ifndef LITIFUT_POSTPROC_SOURCES_ARCHIVE_H
#define LITIFUT_POSTPROC_SOURCES_ARCHIVE_H

#include <stdbool.h>

#include "postproc/problems.h"

/* Do the first bytes, unpacked, say tar or zip? */
bool post_archive_is(const char *path);

/* Unpacks the files of an archive into a new folder in TMPDIR, as many bytes as a compressed file
 * may have (post_input_limit()). Damage is reported, and what came before it is kept. Returns the
 * folder, which stays until post_archives_remove(); NULL: a problem was reported. */
const char *post_archive_unpack(const char *path, struct post_problems *problems);

/* Removes all folders that were made; a signal handler may call it. */
void post_archives_remove(void);

#endif
