/* Where the return address of a function is at each of its blocks, from what the instructions
 * before do to the stack pointer. So the calls that are open can be found on the stack of a thread.
 */
#ifndef LITIFUT_POSTPROC_PATHS_FRAMES_H
#define LITIFUT_POSTPROC_PATHS_FRAMES_H

#include "cpu/frame.h"
#include "postproc/sources/image.h"

struct post_path_frame {
	struct cpu_frame start;  /* of the block */
	struct cpu_frame branch; /* before the branch that ends it, and its delay slot */
};

/* One for each block of the image, malloc'ed; NULL: nothing is known of the frames of its CPU. */
struct post_path_frame *post_path_frames(const struct post_image *image);

#endif
