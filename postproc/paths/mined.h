/* The patterns of what a firmware records: a block that records that control comes to it, and the
 * branches up to the next record, are a unit; some units that come one behind the other again and
 * again are a pattern. LITIFUT_PATTERNS reads the text that is written here. */
#ifndef LITIFUT_POSTPROC_PATHS_MINED_H
#define LITIFUT_POSTPROC_PATHS_MINED_H

#include <stdio.h>

#include "postproc/model/session.h"

/* The image of the first firmware whose branches are in the session; NULL: there is none. */
const struct post_image *path_mined_image(const struct post_session *session);

/* Writes the patterns that shorten the words of that image most, `most' of them. Returns how many
 * there are. */
size_t path_mined_patterns(struct post_session *session, const struct post_image *image,
			   size_t most, FILE *file);

#endif
