/* What must be known of the C library that an image runs with. */
#ifndef LITIFUT_REWRITER_LIBC_H
#define LITIFUT_REWRITER_LIBC_H

#include "rewriter/image.h"

/* Is it one whose vector of thread-local blocks has a word to spare for the
 * thunks (tracer/armed.c), and is it set up before any code of the image runs?
 * So it is with glibc and a dynamic linker. */
bool litifut_libc_has_spare_word(const struct litifut_image *image);

/* Must this function stay as it is? In musl's _Fork the child makes calls before it
 * has written down its id, by which the recorder tells it from its parent on kernels
 * before 4.14. In glibc's the kernel writes it. */
bool litifut_libc_must_keep(const struct litifut_image *image, const char *function);

#endif
