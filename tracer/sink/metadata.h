/* Records about the process, which readers read first. */
#ifndef LITIFUT_TRACER_METADATA_H
#define LITIFUT_TRACER_METADATA_H

#include <stdint.h>

#pragma GCC visibility push(hidden)

/* Makes the first chunk of them, in a new trace. */
void litifut_metadata_start(void);
/* Puts the words of a record; they are left out when there is no room. */
void litifut_metadata_put(const uint32_t *words, uint32_t count);

#pragma GCC visibility pop

#endif
