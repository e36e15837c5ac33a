/* Memory for arrays of many megabytes. A fifth of the time of a rewrite went into page
 * faults: the kernel is asked for huge pages, which it may give or not. */
#ifndef LITIFUT_COMMON_MEMORY_H
#define LITIFUT_COMMON_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* For programs that use much memory for a short time: what is freed is kept for the next
 * array and not given back. For main files, before they do anything. */
void litifut_memory_keep(void);

/* Makes the whole pages in [start, end) of a private mapping of a file memory of its
 * own, with what is in the file from `offset` on, where `start` is: as writing to each of them
 * would, but faster. False: the file can't be read, and what is there is lost; see errno. */
bool litifut_memory_own(uint8_t *start, uint8_t *end, int file, off_t offset);

/* As malloc() and realloc(): NULL when there is no memory, to be released by free(). */
void *litifut_memory_array(size_t count, size_t size);
void *litifut_memory_resized(void *memory, size_t count, size_t size);

#endif
