/* Memory of this process. */
#ifndef LITIFUT_TRACER_MEMORY_H
#define LITIFUT_TRACER_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

/* True when the 8 bytes at `address` can be read without a fault. */
bool litifut_readable(uint32_t address);
/* Maps `size` bytes of a file at a multiple of `size`, a power of two; 0 without
 * memory. */
uint32_t litifut_map_aligned(long descriptor, uint64_t offset, uint32_t size);

#pragma GCC visibility pop

#endif
