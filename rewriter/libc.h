/* What must be known of the C library that an image runs with. */
#ifndef LITIFUT_REWRITER_LIBC_H
#define LITIFUT_REWRITER_LIBC_H

#include "rewriter/image.h"

/* Is it one whose vector of thread-local blocks has a word to spare for the
 * thunks (tracer/recorder/armed.c), and that announces a fork? glibc does. A dynamic
 * linker sets the vector up before any code of the image runs; a static program has
 * another before (tracer's start.S). NULL: it is; else why it is not, or may not be, for
 * people. */
const char *litifut_libc_lacks_spare_word(const struct litifut_image *image);

/* Is glibc linked into the image, a static program? */
bool litifut_libc_is_static_glibc(const struct litifut_image *image);

/* Static programs only: the address of __register_atfork with its Thumb bit; 0: there is
 * none. */
uint32_t litifut_libc_register_atfork(const struct litifut_image *image);

/* Is it a static program in which nothing runs the constructors of .init_array, as it has no libc?
 * NULL: something does; else what to say of it, for people. */
const char *litifut_libc_lacks_constructors(const struct litifut_image *image);

/* Must this function stay as it is? In musl's _Fork the child makes calls before it
 * has written down its id, by which the recorder distinguishes it from its parent on kernels
 * before 4.14. In glibc's the kernel writes it. */
bool litifut_libc_must_keep(const struct litifut_image *image, const char *function);

#endif
