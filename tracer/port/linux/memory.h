/* Memory of this process. */
#ifndef LITIFUT_TRACER_MEMORY_H
#define LITIFUT_TRACER_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

/* True when the 8 bytes at `address` can be read without a fault. */
bool litifut_readable(uint32_t address);
/* Maps `size` bytes of a file, or of anonymous memory with `descriptor` -1, so that they
 * end at a multiple of `multiple`, a power of two that is not smaller. 0 without memory. */
uint32_t litifut_map_before(long descriptor, uint64_t offset, uint32_t size, uint32_t multiple);
/* Memory of zeros for reading and writing, or a negated error. */
long litifut_map_memory(uint32_t size);

#pragma GCC visibility pop

#endif
