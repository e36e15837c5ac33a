/* The source files that an output shows. An ELF file may name any path; only what lies in one of
 * the folders that the user named is read. */
#ifndef LITIFUT_POSTPROC_FORMATS_SOURCE_FILES_H
#define LITIFUT_POSTPROC_FORMATS_SOURCE_FILES_H

#include <stddef.h>

/* The file that debug information calls `name`, in one of the folders (NULL-terminated list, or
 * NULL): at its path, or at the longest end of its path that there is. NULL: there is none. The
 * caller frees it. */
char *post_source_find(const char *const *folders, const char *name);

/* The text of a file; NULL: it is not a text, or not smaller than `room` bytes. The caller frees
 * it. */
char *post_source_read(const char *path, size_t room);

#endif
