/* What the kernel says about itself and the CPU. */
#ifndef LITIFUT_TRACER_AUXILIARY_H
#define LITIFUT_TRACER_AUXILIARY_H

/* Reads the auxiliary vector into the recorder's state. A negated error when it can't be
 * had, without /proc or without a free descriptor: then the process counts as set-uid,
 * and what CPU it is can only be read from the name of the machine. */
long litifut_auxiliary_read(void) __attribute__((visibility("hidden")));

#endif
