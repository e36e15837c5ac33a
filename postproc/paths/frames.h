/* Where the return address of a function is at each of its blocks. So the calls that are open can
 * be found on the stack of a thread. */
#ifndef LITIFUT_POSTPROC_PATHS_FRAMES_H
#define LITIFUT_POSTPROC_PATHS_FRAMES_H

#include "paths/frames.h"
#include "postproc/sources/image.h"

/* One for each block of the image, malloc'ed; NULL: nothing is known of the frames of its CPU. */
struct path_frame *post_path_frames(const struct post_image *image);

#endif
