/* What the thunk engine must know of the C library that an image runs with. */
#ifndef LITIFUT_REWRITER_LIBC_H
#define LITIFUT_REWRITER_LIBC_H

#include "rewriter/image.h"

/* Is it one whose vector of thread-local blocks has a word to spare for the
 * thunks (tracer/armed.c), and is it set up before any code of the image runs?
 * So it is with glibc and a dynamic linker. */
bool litifut_libc_has_spare_word(const struct litifut_image *image);

#endif
