/* Room in a file. */
#ifndef LITIFUT_TRACER_ROOM_H
#define LITIFUT_TRACER_ROOM_H

#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

/* Makes room for [offset, offset + size) in a file, so that no write to the mapping can
 * meet a full disk, which would be a SIGBUS. Never shrinks it. */
bool litifut_file_grow(long descriptor, uint64_t offset, uint32_t size);
/* True when RLIMIT_FSIZE lets a file be `end` bytes long. Writing beyond it would bring
 * the program a SIGXFSZ. */
bool litifut_within_file_limit(uint64_t end);
/* True when it and LITIFUT_MAX_MB do. */
bool litifut_within_limits(uint64_t end);

#pragma GCC visibility pop

#endif
