/* What the kernel tells of itself and the CPU. */
#ifndef LITIFUT_TRACER_AUXILIARY_H
#define LITIFUT_TRACER_AUXILIARY_H

/* Reads the auxiliary vector into the recorder's state. */
void litifut_auxiliary_read(void) __attribute__((visibility("hidden")));

#endif
