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

/* As malloc() and realloc(): NULL when there is no memory, to be released by free(). */
void *litifut_memory_array(size_t count, size_t size);
void *litifut_memory_resized(void *memory, size_t count, size_t size);

#endif
