/* Reads the recorder's settings. */
#ifndef LITIFUT_TRACER_SETTINGS_READ_H
#define LITIFUT_TRACER_SETTINGS_READ_H

#include <stdint.h>

#pragma GCC visibility push(hidden)

/* The built-in values, then `defaults` (as in struct litifut_module), then the
 * environment unless the process is secure. `scratch` has `size` bytes, 4096 at least. */
void litifut_settings_read(const char *defaults, char *scratch, uint32_t size);
/* The chunk size that they ask for, a power of two. */
uint32_t litifut_settings_chunk_bytes(void);

#pragma GCC visibility pop

#endif
