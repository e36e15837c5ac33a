/* Separate debug files of an image. */
#ifndef LITIFUT_POSTPROC_SOURCES_DEBUG_FILE_H
#define LITIFUT_POSTPROC_SOURCES_DEBUG_FILE_H

#include "postproc/sources/image.h"

/* Looks for them in the build-id trees of `places` (may be NULL), along
 * .gnu_debuglink and in .gnu_debugdata, and opens what is found and fits into
 * image->further. Finding nothing is normal. */
void post_debug_files_find(struct post_image *image, const struct post_debug_places *places);

/* Takes in what another file of the same build has: `path` is opened and kept
 * in image->further, before post_image_load(). Gives false when it does not fit. */
bool post_debug_file_add(struct post_image *image, const char *path);

#endif
